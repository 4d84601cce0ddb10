// SPDX-License-Identifier: GPL-2.0
// Purpose: see engines.h.
// Thread: device loop only.
#include "gpu-emu/ip/engines.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "gpu-emu/ip/cp/mec.h"
#include "gpu-emu/ip/sdma/sdma_engine.h"

namespace gpuemu {

struct Engines::Impl {
    explicit Impl(Context given) : context(std::move(given)) {
        const auto instances =
            std::ranges::count(context.profile.ips, HwId::SDMA0, &IpInstance::hw_id);
        std::vector<SdmaEngine*> pointers;
        for (unsigned instance = 0; instance < static_cast<unsigned>(instances); ++instance) {
            sdma.push_back(std::make_unique<SdmaEngine>(context, instance));
            pointers.push_back(sdma.back().get());
        }
        mec = std::make_unique<Mec>(context, pointers);
    }

    Context context;
    std::vector<std::unique_ptr<SdmaEngine>> sdma;
    std::unique_ptr<Mec> mec;
};

Engines::Engines(Context context) : impl_(std::make_unique<Impl>(std::move(context))) {}

Engines::~Engines() = default;

bool Engines::ring_doorbell(uint32_t index, uint64_t value) {
    bool owned = impl_->mec->ring_doorbell(index, value);
    for (const auto& engine : impl_->sdma) {
        owned = engine->ring_doorbell(index, value) || owned;
    }
    return owned;
}

void Engines::reset() {
    impl_->mec->reset();
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
    std::string lines = impl_->mec->describe();
    for (const auto& engine : impl_->sdma) {
        lines += engine->describe();
    }
    return lines;
}

}  // namespace gpuemu
