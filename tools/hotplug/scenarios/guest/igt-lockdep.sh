#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# igt-lockdep.sh NODE: run IGT's amd_lockdep on a GPU.

exec igt_judge "$1" --timeout 600 \
    amdgpu/amd_lockdep@concurrent-reset-and-submit \
    amdgpu/amd_lockdep@concurrent-mmap-and-evict \
    amdgpu/amd_lockdep@concurrent-userptr-and-reset \
    amdgpu/amd_lockdep@stress-all-paths
