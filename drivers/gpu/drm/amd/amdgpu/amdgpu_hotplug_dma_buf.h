/* SPDX-License-Identifier: MIT */
#ifndef __AMDGPU_HOTPLUG_DMA_BUF_H__
#define __AMDGPU_HOTPLUG_DMA_BUF_H__

struct amdgpu_device;
struct dma_buf_attachment;

int amdgpu_hotplug_dma_buf_attach(struct dma_buf_attachment *attach);
void amdgpu_hotplug_dma_buf_detach(struct dma_buf_attachment *attach);
void amdgpu_hotplug_dma_buf_mapped(struct dma_buf_attachment *attach);
void amdgpu_hotplug_dma_buf_unmapped(struct dma_buf_attachment *attach);

void amdgpu_hotplug_revoke_dma_bufs(struct amdgpu_device *adev);

#endif
