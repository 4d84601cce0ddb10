// SPDX-License-Identifier: GPL-2.0
// Purpose: libFuzzer target: a whole GPU behind its BARs. An input chooses a profile, what of it
// the driver has set up, and then what guest, client and control socket do, one after the other.
// Nothing may crash, take much more time than the start of a GPU, or much memory, or reach what
// GuestMemory does not offer. Thread: single-threaded.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <nlohmann/json.hpp>
#include <vector>

#include "gpu-emu/fuzz/guest_input.h"
#include "gpu-emu/fuzz/limits.h"
#include "gpu-emu/fuzz/whole_gpu.h"
#include "gpu-emu/ip/cp/pm4.h"
#include "gpu-emu/ip/sdma/sdma_packets.h"
#include "lib/temp_tree.h"

namespace gpuemu::fuzz {
namespace {

using nlohmann::json;

constexpr unsigned most_operations = 48;
constexpr unsigned most_turns = 6, most_waits = 2, most_restarts = 4;
constexpr std::size_t psp_payload = 7;  // dwords in front of it, struct psp_gfx_cmd_resp

constexpr std::array pm4_opcodes = {
    pm4::PACKET3_NOP,           pm4::PACKET3_ATOMIC_MEM,      pm4::PACKET3_COND_EXEC,
    pm4::PACKET3_PRED_EXEC,     pm4::PACKET3_WRITE_DATA,      pm4::PACKET3_WAIT_REG_MEM,
    pm4::PACKET3_COPY_DATA,     pm4::PACKET3_RELEASE_MEM,     pm4::PACKET3_DMA_DATA,
    pm4::PACKET3_ACQUIRE_MEM,   pm4::PACKET3_INVALIDATE_TLBS, pm4::PACKET3_INDIRECT_BUFFER,
    pm4::PACKET3_SET_RESOURCES, pm4::PACKET3_SET_CONFIG_REG,  pm4::PACKET3_SET_CONTEXT_REG,
    pm4::PACKET3_SET_SH_REG,    pm4::PACKET3_SET_UCONFIG_REG, pm4::PACKET3_MAP_PROCESS,
    pm4::PACKET3_MAP_QUEUES,    pm4::PACKET3_UNMAP_QUEUES,    pm4::PACKET3_QUERY_STATUS,
    pm4::PACKET3_RUN_LIST};

/// Requests of the control socket with one number.
struct Request {
    const char* verb;
    const char* argument;  // null: none
    bool is_restart = false;
};
constexpr std::array requests = {Request{"vanish", nullptr},
                                 Request{"restore", nullptr, true},
                                 Request{"restore", nullptr, true},
                                 Request{"hang", nullptr},
                                 Request{"hang_for_good", nullptr},
                                 Request{"resume", nullptr},
                                 Request{"flaky", "ms"},
                                 Request{"not_ready", "ms"},
                                 Request{"drop_irq", "count"},
                                 Request{"duplicate_irq", "count"},
                                 Request{"late", "us"},
                                 Request{"late_sdma", "us"},
                                 Request{"vanish_after", "accesses"},
                                 Request{"vanish_after_reset", "accesses"},
                                 Request{"vanish_asleep", nullptr},
                                 Request{"vanish_after_config", "offset"},
                                 Request{"vanish_at_read", "offset"},
                                 Request{"status", nullptr},
                                 Request{"counters", nullptr},
                                 Request{"vram_count", "value"},
                                 Request{"silent_smu", "count"},
                                 Request{"silent_boot_loader", "count"},
                                 Request{"false_wptr", "value"}};
constexpr std::array blocks = {"umc", "gfx", "sdma"};
constexpr std::array severities = {"correctable", "uncorrectable", "poison"};
constexpr std::array surfaces = {"registers", "write_backs", "interrupts", "discovery",
                                 "firmware",  "mailbox",     "fills"};
constexpr std::array fields = {"bytes", "dies",  "ips",    "version", "nbio", "hdp",
                               "smuio", "mmhub", "arrays", "cus",     "twin"};
constexpr std::array queues = {"compute", "video", "jpeg"};
constexpr std::array regions = {Region::bar0, Region::bar1,   Region::bar2, Region::bar5,
                                Region::rom,  Region::config, Region::vga};

template <typename T, std::size_t Count>
const T& choose(GuestInput& input, const std::array<T, Count>& from) {
    return input.one_of(std::span<const T>(from));
}

std::vector<uint32_t> pm4_packet(GuestInput& input) {
    const pm4::Opcode opcode = choose(input, pm4_opcodes);
    std::vector<uint32_t> packet = input.dwords(1 + input.take<uint8_t>() % 16);
    packet.insert(packet.begin(), pm4::header(opcode, static_cast<uint32_t>(packet.size())));
    return packet;
}

std::vector<uint32_t> sdma_packet(GuestInput& input) {
    std::vector<uint32_t> packet = input.dwords(1 + input.take<uint8_t>() % 12);
    packet.front() = packet.front() << 16 | input.take<uint8_t>() % 4u << 8 |
                     input.take<uint8_t>() % (sdma::SDMA_OP_GCR_REQ + 1u);
    return packet;
}

void submit(WholeGpu& gpu, GuestInput& input) {
    const auto queue = static_cast<WholeGpu::Queue>(input.take<uint8_t>() % WholeGpu::queues);
    switch (queue) {
        case WholeGpu::Queue::kiq:
        case WholeGpu::Queue::user_buffer: gpu.submit(queue, pm4_packet(input)); break;
        case WholeGpu::Queue::sdma: gpu.submit(queue, sdma_packet(input)); break;
        case WholeGpu::Queue::user_aql: gpu.submit(queue, input.dwords(16)); break;
        case WholeGpu::Queue::video:
            gpu.submit(queue, input.dwords(1 + input.take<uint8_t>() % 16));
            break;
    }
}

void command_psp(WholeGpu& gpu, GuestInput& input) {
    std::vector<uint32_t> command = input.dwords(psp_payload + 1 + input.take<uint8_t>() % 8);
    command.resize(256);
    command[2] = input.take<uint8_t>();  // its number
    gpu.command_psp(command);
}

/// Any access that a client can make, of any width.
void access(WholeGpu& gpu, GuestInput& input) {
    const Region region = choose(input, regions);
    const uint64_t reach = region == Region::config ? 0xfff : 0xffffff;
    const uint64_t offset =
        input.take<uint8_t>() % 8 == 0 ? input.take<uint64_t>() : input.take<uint32_t>() & reach;
    std::array<std::byte, 16> data{};
    const auto bytes = std::span(data).first(1 + input.take<uint8_t>() % data.size());
    if (input.take<uint8_t>() % 2 == 0) {
        gpu.function().read(region, offset, bytes);
    } else {
        for (std::byte& byte : bytes) {
            byte = input.take<std::byte>();
        }
        gpu.function().write(region, offset, bytes);
    }
}

/// Of a register that does something, or of what lies around it.
void access_register(WholeGpu& gpu, GuestInput& input) {
    const uint32_t dword = input.one_of(gpu.registers()) + input.take<int8_t>() % 4;
    if (input.take<uint8_t>() % 4 != 0) {
        gpu.write_register(dword, input.dword());
        return;
    }
    std::array<std::byte, 4> value{};
    gpu.function().read(Region::bar5, uint64_t{dword} * 4, value);
}

void set_page(WholeGpu& gpu, GuestInput& input) {
    const uint32_t index = input.take<uint16_t>() % 1024;
    switch (input.take<uint8_t>() % 4) {
        case 0:
            gpu.set_page(index,
                         (GuestMemory::read_only + input.take<uint8_t>() % 16 * GuestMemory::page) |
                             3 | (input.take<uint8_t>() & 0x40));
            break;
        case 1:
            gpu.set_page(
                index,
                (GuestMemory::loose + input.take<uint8_t>() % 16 * GuestMemory::page) | 0x43);
            break;
        case 2: gpu.set_page(index, uint64_t{input.take<uint16_t>()} << 12 | 0x41); break;
        default: gpu.set_page(index, input.take<uint64_t>()); break;
    }
}

void write_memory(WholeGpu& gpu, GuestInput& input) {
    const uint64_t offset = uint64_t{input.take<uint16_t>()} * 4;
    const std::vector<uint32_t> dwords = input.dwords(1 + input.take<uint8_t>() % 16);
    gpu.memory().put(offset, std::as_bytes(std::span(dwords)));
}

/// What takes more than an operation of a guest may be done so often.
struct Allowance {
    unsigned turns = most_turns, waits = most_waits, restarts = most_restarts;

    static bool take(unsigned& left) { return left != 0 && left-- != 0; }
};

void ask(WholeGpu& gpu, GuestInput& input, Allowance& allowance) {
    switch (input.take<uint8_t>() % 8) {
        case 0:
            gpu.ask({{"do", "ras"},
                     {"block", choose(input, blocks)},
                     {"severity", choose(input, severities)}});
            break;
        case 1:
            gpu.ask({{"do", "interrupt"},
                     {"client", input.take<uint8_t>()},
                     {"source", input.take<uint8_t>()},
                     {"vmid", input.take<uint8_t>()}});
            break;
        case 2:
            gpu.ask({{"do", "hostile"},
                     {"seed", input.take<uint8_t>()},
                     {"surface", {choose(input, surfaces)}},
                     {"rate", input.take<uint8_t>()}});
            break;
        case 3:
            gpu.ask({{"do", "false_discovery"},
                     {"field", choose(input, fields)},
                     {"value", input.take<uint16_t>()}});
            break;
        case 4:
            gpu.ask({{"do", "false_fences"},
                     {"queue", choose(input, queues)},
                     {"more", input.dword()},
                     {"count", input.take<uint8_t>()}});
            break;
        default: {
            const Request& request = choose(input, requests);
            if (request.is_restart && !Allowance::take(allowance.restarts)) {
                break;
            }
            json asked{{"do", request.verb}};
            if (request.argument != nullptr) {
                asked[request.argument] = input.take<uint8_t>();
            }
            gpu.ask(asked);
            break;
        }
    }
}

void restart_or_run(WholeGpu& gpu, GuestInput& input, Allowance& allowance) {
    switch (input.take<uint8_t>() % 8) {
        case 0:
            if (Allowance::take(allowance.restarts)) {
                gpu.function().reset();
            }
            break;
        case 1:
            if (Allowance::take(allowance.restarts)) {
                gpu.reattach();
            }
            break;
        case 2: gpu.set_command(input.take<uint8_t>() % 8); break;
        case 3: gpu.set_command(WholeGpu::memory_space | WholeGpu::bus_master); break;
        default:
            if (Allowance::take(allowance.turns)) {
                gpu.run(4);
            }
            break;
    }
}

void operate(WholeGpu& gpu, GuestInput& input, Allowance& allowance) {
    switch (input.take<uint8_t>() % 16) {
        case 0:
        case 1:
        case 2:
        case 3: submit(gpu, input); break;
        case 4: command_psp(gpu, input); break;
        case 5:
        case 6: access_register(gpu, input); break;
        case 7: access(gpu, input); break;
        case 8: set_page(gpu, input); break;
        case 9: write_memory(gpu, input); break;
        case 10:
            gpu.doorbell(input.take<uint16_t>(), input.take<uint32_t>(),
                         input.take<uint8_t>() % 2 == 0);
            break;
        case 11: gpu.memory().map_loose(input.take<uint8_t>() % 2 == 0); break;
        case 12:
            gpu.set_up(static_cast<WholeGpu::Part>(input.take<uint8_t>() % WholeGpu::parts));
            break;
        case 13: ask(gpu, input, allowance); break;
        case 14:
            if (Allowance::take(allowance.waits)) {
                gpu.pass_time();
            }
            break;
        default: restart_or_run(gpu, input, allowance); break;
    }
}

constexpr std::array profiles = {"mi300x", "navi21", "mi300x-vf", "mi308x", "mi300x-hive"};
constexpr std::array<std::size_t, 8> chosen = {0, 1, 0, 1,
                                               2, 3, 4, 1};  // four XCCs take their time

/// One of each profile, made once: that takes longer than most inputs.
std::deque<WholeGpu>& gpus() {
    static const hp::TempTree folder;
    static std::deque<WholeGpu> gpus;
    if (gpus.empty()) {
        for (const char* const name : profiles) {
            gpus.emplace_back(WholeGpu::small(name), folder.root() / name);
        }
    }
    return gpus;
}

/// As a driver sets it up, but for the parts in `left_out`.
void begin(WholeGpu& gpu, uint8_t left_out) {
    gpu.begin();
    for (unsigned part = 0; part < WholeGpu::parts; ++part) {
        if ((left_out >> part & 1) == 0) {
            gpu.set_up(static_cast<WholeGpu::Part>(part));
        }
    }
}

// Seen with 100,000 inputs, seeds 1 and 2: 32 ms each time, 57 ms once of three times, while the
// yardstick was 10 ms; 34 KB.
constexpr int64_t most_ns = 50'000'000, most_yardsticks = 8;
constexpr std::size_t most_bytes = 64u << 20;

/// What a machine that is slow, or has other work, is slow at as well: to begin with each profile.
int64_t yardstick_ns() {
    const Stopwatch stopwatch;
    for (WholeGpu& gpu : gpus()) {
        begin(gpu, 0);
    }
    return stopwatch.ns();
}

/// Null, or what there was too much of.
const char* play(GuestInput input) {
    WholeGpu& gpu = gpus()[choose(input, chosen)];
    const auto left_out = input.take<uint8_t>();
    const HeapGrowth heap;
    const Stopwatch stopwatch;
    begin(gpu, left_out);
    Allowance allowance;
    for (unsigned i = 0; i < most_operations && !input.empty(); ++i) {
        operate(gpu, input, allowance);
        if (heap.bytes() > most_bytes) {
            return "memory";
        }
    }
    gpu.run(4);
    const int64_t ns = stopwatch.ns();
    return ns > most_ns && ns > most_yardsticks * yardstick_ns() ? "time" : nullptr;
}

}  // namespace
}  // namespace gpuemu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    // What an input does it does each time; what else the machine does, it does not.
    constexpr int attempts = 3;
    const char* exceeded = "";
    for (int attempt = 0; attempt < attempts && exceeded != nullptr; ++attempt) {
        exceeded = gpuemu::fuzz::play({data, size});
    }
    if (exceeded != nullptr) {
        std::fprintf(stderr, "too much %s\n", exceeded);
        std::abort();
    }
    return 0;
}
