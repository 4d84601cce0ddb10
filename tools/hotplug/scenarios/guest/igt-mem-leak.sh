#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# igt-mem-leak.sh NODE: unload the driver with IGT's amd_mem_leak, which may skip what needs a display.

exec igt_judge "$1" --timeout 400 "amdgpu/amd_mem_leak@driver-unload|may-skip=No KMS driver or no outputs\
|may-skip=display.is_atomic|may-skip=No valid crtc|may-skip=kmemleak is not enabled"
