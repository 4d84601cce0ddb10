// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/board/engines.h"

#include <utility>
#include <vector>

#include "gpu-emu/ip/cp/me.h"
#include "gpu-emu/ip/cp/mec.h"
#include "gpu-emu/ip/cp/xcc_group.h"
#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/sdma/sdma_engine.h"
#include "gpu-emu/ip/sdma/sdma_layout.h"

namespace gpuemu {

struct Engines::Impl {
    explicit Impl(EngineContext given) : context(std::move(given)) {
        std::vector<SdmaEngine*> pointers;
        for (const SdmaLayout& layout : sdma_layouts(context.profile)) {
            const auto instance = static_cast<unsigned>(sdma.size());
            sdma.push_back(std::make_unique<SdmaEngine>(context, instance, layout));
            pointers.push_back(sdma.back().get());
        }
        if (gc_layout(context.profile).graphics_ring) {
            me = std::make_unique<Me>(context);
        }
        const std::size_t count = context.profile.working(HwId::GC).size();
        of_xccs.reserve(count);  // those who have one keep a reference
        for (std::size_t xcc = 0; xcc < count; ++xcc) {
            EngineContext& own = of_xccs.emplace_back(context);
            own.xcc = static_cast<uint8_t>(xcc);
            mecs.push_back(std::make_unique<Mec>(own, xccs, me.get(), pointers));
        }
    }

    EngineContext context;
    std::vector<EngineContext> of_xccs;
    XccGroup xccs{context.registers, context.kicker};
    std::vector<std::unique_ptr<SdmaEngine>> sdma;
    std::unique_ptr<Me> me;                  // null: the GC has no graphics ring
    std::vector<std::unique_ptr<Mec>> mecs;  // by XCC
};

Engines::Engines(EngineContext context) : impl_(std::make_unique<Impl>(std::move(context))) {}

Engines::~Engines() = default;

bool Engines::ring_doorbell(uint32_t index, uint64_t value) {
    bool owned = false;
    for (const auto& mec : impl_->mecs) {
        owned = mec->ring_doorbell(index, value) || owned;
    }
    if (impl_->me) {
        owned = impl_->me->ring_doorbell(index, value) || owned;
    }
    for (const auto& engine : impl_->sdma) {
        owned = engine->ring_doorbell(index, value) || owned;
    }
    return owned;
}

void Engines::reset() {
    for (const auto& mec : impl_->mecs) {
        mec->reset();
    }
    if (impl_->me) {
        impl_->me->reset();
    }
    for (const auto& engine : impl_->sdma) {
        engine->reset();
    }
}

void Engines::reset_sdma(uint32_t instances) {
    for (std::size_t instance = 0; instance < impl_->sdma.size(); ++instance) {
        if ((instances >> instance & 1) != 0) {
            impl_->sdma[instance]->reset();
        }
    }
}

std::string Engines::describe() const {
    std::string lines;
    for (const auto& mec : impl_->mecs) {
        lines += mec->describe();
    }
    if (impl_->me) {
        lines += impl_->me->describe();
    }
    for (const auto& engine : impl_->sdma) {
        lines += engine->describe();
    }
    return lines;
}

}  // namespace gpuemu
