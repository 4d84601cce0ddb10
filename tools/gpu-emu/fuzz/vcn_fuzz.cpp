// SPDX-License-Identifier: GPL-2.0
// Purpose: libFuzzer target: bytes of a guest as packets in a ring of VCN or JPEG, and in an
// indirect buffer of a user. The first byte chooses the ring. Thread: single-threaded.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu-emu/fuzz/bounded_turns.h"
#include "gpu-emu/ip/vcn/jpeg_engine.h"
#include "gpu-emu/ip/vcn/vcn_engine.h"
#include "gpu-emu/testing/cp_bench.h"

namespace gpuemu::fuzz {
namespace {

constexpr uint32_t ring_base = 0x1000, ring_dwords = 1024, user_buffer = 0x4000, user_vmid = 8;
/// What a packet may take more than its budget.
constexpr int64_t slack = 4096;

/// The engines of an instance, each ring of which can be started.
struct Instance : private test::Surroundings {
    using Surroundings::Surroundings;

    void fuzz(unsigned which, const std::vector<uint32_t>& packets) {
        vcn.reset();
        jpeg.reset();
        memory.clear();
        interrupts.entries.clear();
        memory.break_page(0, 0x3000);
        memory.put(user_buffer, packets, user_vmid);
        memory.put(ring_base, packets);
        const auto wptr = static_cast<uint32_t>(packets.size());
        const std::size_t rings = layout.rings.size();
        if (which % (rings + 1) == rings) {
            const JpegCoreLayout& core = layout.jpeg.cores.front();
            start(core.ring, wptr);
            registers.write(core.rb_cntl, 0);
            run_bounded(jpeg, slack);
            return;
        }
        start(layout.rings[which % (rings + 1)], wptr);
        if (layout.rb_enable) {
            registers.write(*layout.rb_enable, layout.rb_enable_mask);
        }
        registers.write(layout.vcpu_cntl, 1u << 9);
        run_bounded(vcn, slack);
    }

private:
    void start(const VideoRing::Layout& ring, uint32_t wptr) {
        registers.write(ring.base, ring_base);
        registers.write(ring.size, ring.size_in == VideoRing::SizeIn::dwords ? ring_dwords : 12);
        registers.write(ring.wptr, wptr);
    }

    const VcnLayout layout = vcn_layouts(profile).at(0);
    VcnEngine vcn{context, layout};
    JpegEngine jpeg{context, layout.jpeg};
};

}  // namespace
}  // namespace gpuemu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) {
        return 0;
    }
    static gpuemu::fuzz::Instance vcn3("navi21"), vcn4("mi300x");
    std::vector<uint32_t> packets(std::min<size_t>((size - 1) / 4, gpuemu::fuzz::ring_dwords - 16));
    std::copy_n(data + 1, packets.size() * 4, reinterpret_cast<uint8_t*>(packets.data()));
    (data[0] % 2 == 0 ? vcn3 : vcn4).fuzz(data[0] / 2, packets);
    return 0;
}
