#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# reset.sh BDF: reset the GPU through debugfs and print the result; fail unless that is 0.

timeout -s KILL 120 cat "/sys/kernel/debug/dri/$1/amdgpu_gpu_recover" >/tmp/result && cat /tmp/result && grep -qx 0 /tmp/result
