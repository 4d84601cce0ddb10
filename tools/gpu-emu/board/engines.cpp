// SPDX-License-Identifier: GPL-2.0
// Thread: device loop only.
#include "gpu-emu/board/engines.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "gpu-emu/ip/cp/me.h"
#include "gpu-emu/ip/cp/mec.h"
#include "gpu-emu/ip/cp/xcc_group.h"
#include "gpu-emu/ip/gc_layout.h"
#include "gpu-emu/ip/sdma/sdma_engine.h"
#include "gpu-emu/ip/sdma/sdma_layout.h"
#include "gpu-emu/ip/vcn/jpeg_engine.h"
#include "gpu-emu/ip/vcn/mmsch.h"
#include "gpu-emu/ip/vcn/vcn_engine.h"
#include "gpu-emu/ip/vcn/vcn_layout.h"

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
        for (const VcnLayout& layout : vcn_layouts(context.profile)) {
            videos.push_back(std::make_unique<Video>(context, layout));
        }
    }

    /// A VCN instance as a whole.
    struct Video {
        Video(const EngineContext& context, const VcnLayout& layout)
            : instance(layout.place.instance), vcn(context, layout), jpeg(context, layout.jpeg) {
            if (layout.mmsch) {
                mmsch.emplace(context, layout, vcn, jpeg);
            }
        }

        void reset() {
            vcn.reset();
            jpeg.reset();
            if (mmsch) {
                mmsch->reset();
            }
        }

        unsigned instance;
        VcnEngine vcn;
        JpegEngine jpeg;
        std::optional<Mmsch> mmsch;  // of a virtual function
    };

    Video* video(unsigned instance) {
        const auto found = std::ranges::find_if(
            videos, [&](const auto& video) { return video->instance == instance; });
        return found == videos.end() ? nullptr : found->get();
    }

    EngineContext context;
    std::vector<EngineContext> of_xccs;
    XccGroup xccs{context.registers, context.kicker};
    std::vector<std::unique_ptr<SdmaEngine>> sdma;
    std::unique_ptr<Me> me;                  // null: the GC has no graphics ring
    std::vector<std::unique_ptr<Mec>> mecs;  // by XCC
    std::vector<std::unique_ptr<Video>> videos;
};

Engines::Engines(EngineContext context) : impl_(std::make_unique<Impl>(std::move(context))) {}

Engines::~Engines() = default;

bool Engines::ring_doorbell(uint32_t index, uint64_t value,
                            const std::optional<DoorbellRoute>& route) {
    using Block = DoorbellRoute::Block;
    const auto goes_to = [&route](Block block) { return !route || route->block == block; };
    bool owned = false;
    if (goes_to(Block::cp)) {
        for (const auto& mec : impl_->mecs) {
            owned = mec->ring_doorbell(index, value) || owned;
        }
        if (impl_->me) {
            owned = impl_->me->ring_doorbell(index, value) || owned;
        }
    }
    if (goes_to(Block::sdma)) {
        for (std::size_t instance = 0; instance < impl_->sdma.size(); ++instance) {
            if (!route || route->instance == instance) {
                owned = impl_->sdma[instance]->ring_doorbell(index, value) || owned;
            }
        }
    }
    if (goes_to(Block::video)) {
        const auto wptr = static_cast<uint32_t>(value);
        for (const auto& video : impl_->videos) {
            owned = video->vcn.ring_doorbell(index, wptr) || owned;
            owned = video->jpeg.ring_doorbell(index, wptr) || owned;
        }
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
    for (const auto& video : impl_->videos) {
        video->reset();
    }
}

void Engines::reset_sdma(uint32_t instances) {
    for (std::size_t instance = 0; instance < impl_->sdma.size(); ++instance) {
        if ((instances >> instance & 1) != 0) {
            impl_->sdma[instance]->reset();
        }
    }
}

void Engines::reset_vcn(uint32_t instances) {
    for (const auto& video : impl_->videos) {
        if ((instances >> video->instance & 1) != 0) {
            video->reset();
        }
    }
}

void Engines::power_vcn(unsigned instance, bool on) {
    if (Impl::Video* const video = impl_->video(instance)) {
        video->vcn.set_power(on);
    }
}

void Engines::power_jpeg(bool on) {
    for (const auto& video : impl_->videos) {
        if (!on) {
            video->jpeg.reset();
        }
    }
}

bool Engines::load_vcn_sram(unsigned instance, std::span<const uint32_t> pairs) {
    Impl::Video* const video = impl_->video(instance);
    if (video != nullptr) {
        video->vcn.load_sram(pairs);
    }
    return video != nullptr;
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
    for (const auto& video : impl_->videos) {
        lines += video->vcn.describe() + video->jpeg.describe();
    }
    return lines;
}

}  // namespace gpuemu
