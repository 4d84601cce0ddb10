#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# igt-fuzzing.sh NODE BDF: run IGT's fuzzers of the driver's ioctls on a GPU.

exec igt_judge "$1" --device "$2" --timeout 300 \
    amdgpu/amd_fuzzing@userptr-fuzzing \
    amdgpu/amd_fuzzing@cs-wait-fuzzing \
    amdgpu/amd_fuzzing@gem-create-fuzzing \
    amdgpu/amd_fuzzing@kgd-ioctl-field-fuzzing \
    amdgpu/amd_fuzzing@boundary-fuzzing \
    amdgpu/amd_fuzzing@lifecycle-fuzzing
