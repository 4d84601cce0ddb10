#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# igt-health.sh NODE BDF: run IGT's tests of buffers, address spaces, submission and fences on a GPU.

exec igt_judge "$1" --device "$2" --timeout 240 \
    amdgpu/amd_basic@memory-alloc \
    amdgpu/amd_basic@userptr-with-IP-DMA \
    'amdgpu/amd_basic@cs-sdma-with-IP-DMA|memory=5000' \
    amdgpu/amd_basic@cs-compute-with-IP-COMPUTE \
    'amdgpu/amd_basic@semaphore-with-IP-GFX-and-IP-DMA|gfx' \
    amdgpu/amd_cs_nop@cs-nops-with-sync-compute0 \
    'amdgpu/amd_cs_nop@cs-nops-with-sync-gfx0|gfx' \
    'amdgpu/amd_bo@*' \
    'amdgpu/amd_vm@vmid-reserve-test|blind-gfx' \
    amdgpu/amd_vm@amdgpu-vm-unaligned-map \
    amdgpu/amd_vm@amdgpu-vm-mapping-test \
    'amdgpu/amd_syncobj@amdgpu_syncobj_timeline|blind-gfx'
