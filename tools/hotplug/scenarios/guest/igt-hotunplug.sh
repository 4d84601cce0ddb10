#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# igt-hotunplug.sh NODE BDF: run all of IGT's core_hotunplug on a GPU, one test after the other.

exec igt_judge "$1" --device "$2" --timeout 120 \
    core_hotunplug@unbind-rebind \
    core_hotunplug@unplug-rescan \
    core_hotunplug@hotunbind-rebind \
    core_hotunplug@hotunplug-rescan \
    core_hotunplug@hotrebind \
    core_hotunplug@hotreplug \
    core_hotunplug@hotrebind-lateclose \
    core_hotunplug@hotreplug-lateclose
