#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# close-race-again.sh BDF: run IGT's close race on the GPU that came back, whose node may have another name than the one in IGT.

node=/dev/dri/$(cd "/sys/bus/pci/devices/$1/drm" && echo render*)
[ -e /dev/dri/renderD128 ] || ln -s "$node" /dev/dri/renderD128
igt_judge "$node" --timeout 600 'amdgpu/amd_close_race@close-race-low|blind-gfx|shows= alive|never=: 0 alive|never=, 0 subs'
status=$?
[ ! -L /dev/dri/renderD128 ] || rm /dev/dri/renderD128
exit "$status"
