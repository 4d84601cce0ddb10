// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/control/control_server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu-emu/testing/toy_function.h"
#include "gpu-emu/witness/trace_reader.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/run_until.h"
#include "lib/temp_tree.h"

namespace gpuemu {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

/// A device that remembers what was asked of it.
class ToyDevice : public Controllable {
public:
    ToyDevice(LossGate& gate, AccessTrace& trace, hp::EventLoop& loop)
        : gate_(gate), trace_(trace), loop_(loop) {}

    LossGate& gate() override { return gate_; }
    AccessTrace* trace() override { return &trace_; }
    const std::string& profile_name() const override { return name_; }
    bool is_black_hole() const override { return black_hole; }
    std::string register_name(uint32_t dword) const override { return dword == 2 ? "regTOY" : ""; }
    DeviceStatus device_status() const override {
        return {.unknown_registers = 7,
                .read_only_writes = 2,
                .engines = "none",
                .mutations = 3,
                .lied_about = lied_about,
                .hive = {},
                .pcie_switch = behind_switch};
    }
    hp::Result<void> inject(RasBlock block, RasSeverity severity) override {
        if (block == RasBlock::gfx) {
            return hp::fail("no such block");
        }
        injected.emplace_back(block, severity);
        return {};
    }
    void interrupt(const InterruptEntry& entry) override {
        interrupts.push_back(entry);
        gone_at_interrupt = gate_.state() == LossGate::State::ones;
    }
    hp::Result<void> notify_guest(HostNotification what) override {
        notified.push_back(what);
        return {};
    }
    hp::Result<void> make_hostile(uint64_t seed, std::span<const Surface> surfaces,
                                  uint64_t rate) override {
        hostile_seed = seed;
        hostile_surfaces.assign(surfaces.begin(), surfaces.end());
        hostile_rate = rate;
        return {};
    }
    hp::Result<void> falsify_discovery(DiscoveryField field, uint16_t value) override {
        if (field == DiscoveryField::twin && value == 0) {
            return hp::fail("no such IP");
        }
        false_fields[field] = value;
        return {};
    }
    void silence_smu(uint64_t messages) override { silent_smu = messages; }
    void silence_boot_loader(uint64_t commands) override { silent_boot_loader = commands; }
    void falsify_wptr(uint32_t value) override { false_wptr = value; }
    void shift_fences(WriteBack fence, uint32_t more, uint64_t count) override {
        shifts[fence] = {more, count};
    }
    hp::Result<void> poison_vram() override {
        poisoned = true;
        return {};
    }
    hp::Result<uint64_t> count_in_vram(uint32_t word) override {
        if (black_hole) {
            return hp::fail("no VRAM");
        }
        return word == 0x600d600d ? 2 : 0;
    }
    void shut_down() override { loop_.stop(); }

    bool black_hole = false;
    bool poisoned = false;
    std::optional<PeerStatus> behind_switch;
    std::vector<std::pair<RasBlock, RasSeverity>> injected;
    std::vector<HostNotification> notified;
    std::vector<InterruptEntry> interrupts;
    bool gone_at_interrupt = false;
    std::array<Places, surface_count> lied_about{};
    uint64_t hostile_seed = 0, hostile_rate = 0;
    std::vector<Surface> hostile_surfaces;
    std::map<WriteBack, std::pair<uint32_t, uint64_t>> shifts;
    std::map<DiscoveryField, uint16_t> false_fields;
    uint64_t silent_smu = 0, silent_boot_loader = 0;
    uint32_t false_wptr = 0;

private:
    LossGate& gate_;
    AccessTrace& trace_;
    hp::EventLoop& loop_;
    std::string name_ = "toy";
};

class ControlServerTest : public testing::Test {
protected:
    void SetUp() override {
        hp::log::set_up("test", "off");
        trace = std::make_unique<AccessTrace>(folder.root() / "trace", "toy");
        gate = std::make_unique<LossGate>(
            function, engines, loop,
            LossGate::Options{.trace = trace.get(), .on_vanish = {}, .config_survives = false});
        device = std::make_unique<ToyDevice>(*gate, *trace, loop);
        server = std::make_unique<ControlServer>(loop, path, *device);
    }

    bool ok(const json& request) { return server->handle(request).at("ok").get<bool>(); }

    const hp::TempTree folder;
    const std::string path = folder.root() / "s";
    hp::EventLoop loop;
    EngineScheduler engines;
    ToyFunction function;
    ToyHost host;
    std::unique_ptr<AccessTrace> trace;
    std::unique_ptr<LossGate> gate;
    std::unique_ptr<ToyDevice> device;
    std::unique_ptr<ControlServer> server;
};

TEST_F(ControlServerTest, InterruptMayBeTheLastThatIsHeardOfTheDevice) {
    const json last{
        {"do", "interrupt"}, {"client", 2}, {"source", 3}, {"ring", 1}, {"vanish", true}};
    EXPECT_TRUE(ok(last));
    ASSERT_EQ(device->interrupts.size(), 1U);
    EXPECT_EQ(device->interrupts[0].client_id, 2);
    EXPECT_EQ(device->interrupts[0].source_id, 3);
    EXPECT_EQ(device->interrupts[0].ring_id, 1);
    EXPECT_FALSE(device->gone_at_interrupt) << "it is sent, and then the device vanishes";
    EXPECT_EQ(gate->state(), LossGate::State::ones);
    EXPECT_EQ(server->handle(last)["error"], "the device is gone; restore it first");
}

TEST_F(ControlServerTest, InterruptMayNameANodeAndAVmid) {
    EXPECT_TRUE(ok({{"do", "interrupt"},
                    {"client", 8},
                    {"source", 224},
                    {"ring", 0},
                    {"node", 255},
                    {"vmid", 15}}));
    ASSERT_EQ(device->interrupts.size(), 1U);
    EXPECT_EQ(device->interrupts[0].node_id, 255);
    EXPECT_EQ(device->interrupts[0].vmid, 15);
    EXPECT_EQ(device->interrupts[0].pasid, 0);
    EXPECT_EQ(server->handle({{"do", "interrupt"},
                              {"client", 1},
                              {"source", 1},
                              {"ring", 1},
                              {"vmid", 16}})["error"],
              "'vmid' has to be a number from 0 to 15");
}

TEST_F(ControlServerTest, InterruptWithoutItsNumbersIsRefused) {
    EXPECT_EQ(server->handle({{"do", "interrupt"}, {"client", 256}})["error"],
              "'client' has to be a number from 0 to 255");
    EXPECT_EQ(server->handle({{"do", "interrupt"},
                              {"client", 1},
                              {"source", 1},
                              {"ring", 1},
                              {"vanish", 1}})["error"],
              "'vanish' has to be true or false");
    EXPECT_TRUE(device->interrupts.empty());
}

TEST_F(ControlServerTest, HostileReachesTheDevice) {
    EXPECT_TRUE(
        ok({{"do", "hostile"}, {"seed", 5}, {"surface", {"registers", "mailbox"}}, {"rate", 100}}));
    EXPECT_EQ(device->hostile_seed, 5u);
    EXPECT_EQ(device->hostile_rate, 100u);
    EXPECT_EQ(device->hostile_surfaces, (std::vector{Surface::registers, Surface::mailbox}));
    EXPECT_EQ(server->handle({{"do", "status"}})["mutations"], 3);
}

TEST_F(ControlServerTest, FalseFencesReachTheDevice) {
    EXPECT_TRUE(ok({{"do", "false_fences"}, {"queue", "compute"}, {"more", 64}, {"count", 7}}));
    EXPECT_TRUE(
        ok({{"do", "false_fences"}, {"queue", "video"}, {"more", 0xffffffff}, {"count", 1}}));
    EXPECT_TRUE(ok({{"do", "false_fences"}, {"queue", "jpeg"}, {"more", 2}, {"count", 3}}));
    const decltype(device->shifts) asked = {
        {compute_fence, {64, 7}}, {video_fence, {0xffffffff, 1}}, {jpeg_fence, {2, 3}}};
    EXPECT_EQ(device->shifts, asked);
    EXPECT_EQ(server->handle(
                  {{"do", "false_fences"}, {"queue", "sdma"}, {"more", 1}, {"count", 1}})["error"],
              "'queue' has to be compute, video or jpeg");
    EXPECT_EQ(server->handle({{"do", "false_fences"}, {"queue", "video"}, {"count", 1}})["error"],
              "'more' has to be a number from 0 to 4294967295");
    EXPECT_EQ(server->handle({{"do", "false_fences"}, {"queue", "video"}, {"more", 1}})["error"],
              "'count' has to be a number, 0 or more");
    EXPECT_EQ(server->handle({{"do", "false_fences"}, {"more", 1}, {"count", 1}})["error"],
              "'queue' has to be a text");
    gate->vanish();
    EXPECT_EQ(server->handle(
                  {{"do", "false_fences"}, {"queue", "video"}, {"more", 1}, {"count", 1}})["error"],
              "the device is gone; restore it first");
    EXPECT_EQ(device->shifts, asked);
}

TEST_F(ControlServerTest, FalseFieldsOfTheDiscoveryTableReachTheDevice) {
    EXPECT_TRUE(ok({{"do", "false_discovery"}, {"field", "dies"}, {"value", 3073}}));
    EXPECT_TRUE(ok({{"do", "false_discovery"}, {"field", "bytes"}, {"value", 65535}}));
    const decltype(device->false_fields) asked = {{DiscoveryField::dies, 3073},
                                                  {DiscoveryField::bytes, 65535}};
    EXPECT_EQ(device->false_fields, asked);
    EXPECT_EQ(
        server->handle({{"do", "false_discovery"}, {"field", "rings"}, {"value", 1}})["error"],
        "unknown field 'rings': use bytes, dies, ips, version, nbio, hdp, smuio, mmhub, arrays, "
        "cus "
        "or twin");
    EXPECT_EQ(
        server->handle({{"do", "false_discovery"}, {"field", "ips"}, {"value", 65536}})["error"],
        "'value' has to be a number from 0 to 65535");
    EXPECT_EQ(server->handle({{"do", "false_discovery"}, {"value", 1}})["error"],
              "'field' has to be a text");
    EXPECT_EQ(server->handle({{"do", "false_discovery"}, {"field", "twin"}, {"value", 0}})["error"],
              "no such IP");
    gate->vanish();
    EXPECT_EQ(server->handle({{"do", "false_discovery"}, {"field", "ips"}, {"value", 1}})["error"],
              "the device is gone; restore it first");
    EXPECT_EQ(device->false_fields, asked);
}

TEST_F(ControlServerTest, ASilentSmuReachesTheDevice) {
    EXPECT_TRUE(ok({{"do", "silent_smu"}, {"count", 3}}));
    EXPECT_EQ(device->silent_smu, 3u);
    EXPECT_EQ(server->handle({{"do", "silent_smu"}})["error"],
              "'count' has to be a number, 0 or more");
    gate->vanish();
    EXPECT_EQ(server->handle({{"do", "silent_smu"}, {"count", 1}})["error"],
              "the device is gone; restore it first");
    EXPECT_EQ(device->silent_smu, 3u);
}

TEST_F(ControlServerTest, ASilentBootLoaderReachesTheDevice) {
    EXPECT_TRUE(ok({{"do", "silent_boot_loader"}, {"count", 3}}));
    EXPECT_EQ(device->silent_boot_loader, 3u);
    EXPECT_EQ(server->handle({{"do", "silent_boot_loader"}})["error"],
              "'count' has to be a number, 0 or more");
    gate->vanish();
    EXPECT_EQ(server->handle({{"do", "silent_boot_loader"}, {"count", 1}})["error"],
              "the device is gone; restore it first");
    EXPECT_EQ(device->silent_boot_loader, 3u);
}

TEST_F(ControlServerTest, AFalseWritePointerReachesTheDevice) {
    EXPECT_TRUE(ok({{"do", "false_wptr"}, {"value", UINT32_MAX}}));
    EXPECT_EQ(device->false_wptr, UINT32_MAX);
    EXPECT_EQ(server->handle({{"do", "false_wptr"}})["error"],
              "'value' has to be a number from 0 to 4294967295");
    gate->vanish();
    EXPECT_EQ(server->handle({{"do", "false_wptr"}, {"value", 1}})["error"],
              "the device is gone; restore it first");
    EXPECT_EQ(device->false_wptr, UINT32_MAX);
}

TEST_F(ControlServerTest, CountsWordsOfVram) {
    EXPECT_TRUE(ok({{"do", "vram_poison"}}));
    EXPECT_TRUE(device->poisoned);
    EXPECT_EQ(server->handle({{"do", "vram_count"}, {"value", 0x600d600d}})["count"], 2);
    EXPECT_EQ(server->handle({{"do", "vram_count"}, {"value", 0xffffffff}})["count"], 0);
    EXPECT_EQ(server->handle({{"do", "vram_count"}, {"value", 1ull << 32}})["error"],
              "'value' has to be a number from 0 to 4294967295");
    EXPECT_EQ(server->handle({{"do", "vram_count"}})["error"],
              "'value' has to be a number from 0 to 4294967295");
}

TEST_F(ControlServerTest, HostileSaysWhatItWants) {
    const char* const surfaces =
        "'surface' has to be a list of some of: registers, write_backs, interrupts, discovery, "
        "firmware, mailbox, fills";
    for (const json& bad : {json(nullptr), json("registers"), json::array(),
                            json::array({"registers", "vram"}), json::array({1})}) {
        EXPECT_EQ(server->handle(
                      {{"do", "hostile"}, {"seed", 5}, {"surface", bad}, {"rate", 1}})["error"],
                  surfaces);
    }
    EXPECT_EQ(server->handle({{"do", "hostile"}, {"seed", 5}})["error"],
              "'rate' has to be a number, 0 or more");
    EXPECT_EQ(server->handle({{"do", "hostile"}, {"rate", 5}})["error"],
              "'seed' has to be a number, 0 or more");
    gate->vanish();
    EXPECT_EQ(
        server->handle(
            {{"do", "hostile"}, {"seed", 5}, {"surface", {"registers"}}, {"rate", 1}})["error"],
        "the device is gone; restore it first");
    EXPECT_TRUE(device->hostile_surfaces.empty());
}

TEST_F(ControlServerTest, StatusTellsWhatTheDeviceIsAndDoes) {
    gate->attach(host);
    json answer = server->handle({{"do", "status"}});
    EXPECT_EQ(answer, (json{{"ok", true},
                            {"profile", "toy"},
                            {"state", "present"},
                            {"attached", true},
                            {"attachments", 1},
                            {"unknown_registers", 7},
                            {"read_only_writes", 2},
                            {"mutations", 3},
                            {"engines", "none"}}));
    device->lied_about[static_cast<size_t>(Surface::firmware)] = {.asked = 9, .told = {4, 7}};
    EXPECT_EQ(server->handle({{"do", "status"}})["lies"],
              (json{{"firmware", {{"asked", 9}, {"told", {4, 7}}}}}));
    device->behind_switch =
        PeerStatus{.node = 1, .peers = {0, 2}, .traffic = {.reads = 3, .writes = 4, .absent = 5}};
    EXPECT_EQ(server->handle({{"do", "status"}})["switch"],
              (json{{"node", 1}, {"peers", {0, 2}}, {"reads", 3}, {"writes", 4}, {"absent", 5}}));
    EXPECT_TRUE(ok({{"do", "hang"}}));
    EXPECT_EQ(server->handle({{"do", "status"}})["state"], "hung");
    EXPECT_TRUE(ok({{"do", "vanish"}}));
    EXPECT_EQ(server->handle({{"do", "status"}})["state"], "ones");
}

TEST_F(ControlServerTest, EnginesAreLateByNoMoreThanTenMinutes) {
    EXPECT_TRUE(ok({{"do", "late"}, {"us", 600'000'000}}));
    EXPECT_TRUE(ok({{"do", "late"}, {"us", 0}}));
    EXPECT_TRUE(ok({{"do", "late_sdma"}, {"us", 600'000'000}}));
    EXPECT_EQ(server->handle({{"do", "late"}, {"us", 600'000'001}})["error"],
              "'us' has to be a number from 0 to 600000000");
}

TEST_F(ControlServerTest, AHangEndsWithAResetOrNot) {
    EXPECT_TRUE(ok({{"do", "hang"}}));
    gate->function_reset_done();
    EXPECT_EQ(server->handle({{"do", "status"}})["state"], "present");
    EXPECT_TRUE(ok({{"do", "hang_for_good"}}));
    gate->function_reset_done();
    EXPECT_EQ(server->handle({{"do", "status"}})["state"], "hung");
}

TEST_F(ControlServerTest, TheLossModelIsReached) {
    EXPECT_TRUE(ok({{"do", "hang"}}));
    EXPECT_EQ(engines.pause(), EngineScheduler::Pause::hung);
    EXPECT_TRUE(ok({{"do", "resume"}}));
    EXPECT_EQ(engines.pause(), EngineScheduler::Pause::none);
    EXPECT_TRUE(ok({{"do", "flaky"}, {"ms", 1}}));
    EXPECT_EQ(gate->state(), LossGate::State::ones);
    EXPECT_TRUE(ok({{"do", "restore"}}));
    EXPECT_TRUE(ok({{"do", "not_ready"}, {"ms", 1000}}));
    EXPECT_TRUE(gate->loss().not_ready());
    EXPECT_TRUE(ok({{"do", "restore"}}));
    EXPECT_EQ(gate->state(), LossGate::State::present);
    EXPECT_TRUE(ok({{"do", "delay"}, {"us", 250}}));
    EXPECT_EQ(gate->loss().delay(), 250us);

    gate->attach(host);
    EXPECT_TRUE(ok({{"do", "drop_irq"}, {"count", 1}}));
    EXPECT_TRUE(ok({{"do", "duplicate_irq"}, {"count", 1}}));
    function.host->raise_msi(0);
    function.host->raise_msi(0);
    EXPECT_EQ(host.interrupts, 2);

    EXPECT_TRUE(ok({{"do", "vanish_asleep"}}));
    EXPECT_TRUE(ok({{"do", "vanish_after_config"}, {"offset", 0x3c}}));
    EXPECT_TRUE(ok({{"do", "vanish_at_read"}, {"offset", 0x40}}));
    EXPECT_FALSE(ok({{"do", "vanish_after_config"}, {"offset", 4096}}));
    EXPECT_EQ(gate->state(), LossGate::State::present);
    EXPECT_TRUE(ok({{"do", "vanish_after"}, {"accesses", 1}}));
    std::array<std::byte, 4> raw{};
    gate->read(Region::bar5, 0, raw);
    EXPECT_EQ(gate->state(), LossGate::State::ones);
    gate->restore();
    EXPECT_TRUE(ok({{"do", "vanish_after_reset"}, {"accesses", 1}}));
    gate->function_reset_asked();
    gate->read(Region::bar5, 0, raw);
    EXPECT_EQ(gate->state(), LossGate::State::ones);
}

TEST_F(ControlServerTest, CountersNameTheLateAccesses) {
    gate->attach(host);
    std::array<std::byte, 4> raw{};
    gate->read(Region::bar5, 0, raw);
    gate->vanish();
    gate->read(Region::bar5, 8, raw);
    const json answer = server->handle({{"do", "counters"}, {"reset", true}});
    EXPECT_EQ(answer["total"]["mmio_reads"], 2);
    EXPECT_EQ(answer["total"].size(), 10u);
    EXPECT_EQ(answer["after_loss"]["mmio_reads"], 1);
    ASSERT_EQ(answer["first_after_loss"].size(), 1u);
    const json& first = answer["first_after_loss"][0];
    EXPECT_EQ(first["kind"], "mmio_read");
    EXPECT_EQ(first["region"], 5);
    EXPECT_EQ(first["offset"], 8);
    EXPECT_EQ(first["name"], "regTOY");
    EXPECT_TRUE(first["t_us"].is_number());
    const auto now_us = static_cast<int64_t>(hp::monotonic_ns() / 1000);
    EXPECT_LE(first["monotonic_us"].get<int64_t>(), now_us);
    EXPECT_GT(first["monotonic_us"].get<int64_t>(), now_us - 60'000'000);
    EXPECT_EQ(server->handle({{"do", "counters"}})["total"]["mmio_reads"], 0);
}

TEST_F(ControlServerTest, CountersTellOfStrayDma) {
    gate->attach(host);
    const json none = server->handle({{"do", "counters"}})["stray_dma"];
    EXPECT_EQ(none, (json{{"count", 0}, {"first", json::array()}}));
    host.offers = false;
    function.host->dma(0x1000, 8, DmaAccess::write);
    function.host->dma(0x2000, 8, DmaAccess::read);
    const json stray = server->handle({{"do", "counters"}, {"reset", true}})["stray_dma"];
    EXPECT_EQ(stray["count"], 2);
    EXPECT_EQ(stray["first"][0]["kind"], "dma_write");
    EXPECT_EQ(stray["first"][0]["address"], 0x1000);
    EXPECT_EQ(stray["first"][0]["length"], 8);
    EXPECT_GT(stray["first"][0]["monotonic_us"].get<uint64_t>(), 0u);
    EXPECT_EQ(stray["first"][1]["kind"], "dma_read");
    EXPECT_EQ(server->handle({{"do", "counters"}})["stray_dma"]["count"], 2)
        << "no reset of counters ends it";
}

TEST_F(ControlServerTest, RasGoesToTheDevice) {
    EXPECT_TRUE(ok({{"do", "ras"}, {"block", "umc"}, {"severity", "poison"}}));
    EXPECT_EQ(device->injected, (std::vector{std::pair(RasBlock::umc, RasSeverity::poison)}));
    EXPECT_EQ(server->handle({{"do", "ras"}, {"block", "gfx"}, {"severity", "poison"}})["error"],
              "no such block");
    EXPECT_EQ(server->handle({{"do", "ras"}, {"block", "x"}, {"severity", "poison"}})["error"],
              "unknown RAS block 'x': use umc, gfx or sdma");
    EXPECT_FALSE(ok({{"do", "ras"}, {"block", "umc"}}));
    gate->vanish();
    EXPECT_FALSE(ok({{"do", "ras"}, {"block", "umc"}, {"severity", "poison"}}));
}

TEST_F(ControlServerTest, NotificationsAreTheHosts) {
    EXPECT_TRUE(ok({{"do", "host_notification"}, {"what", "flr"}}));
    EXPECT_EQ(device->notified, std::vector{HostNotification::flr});
    EXPECT_EQ(server->handle({{"do", "host_notification"}, {"what", "x"}})["error"],
              "unknown notification 'x': a host sends flr, unrecoverable_error or "
              "unrecoverable_at_access");
    EXPECT_FALSE(ok({{"do", "host_notification"}}));
    gate->vanish();
    EXPECT_FALSE(ok({{"do", "host_notification"}, {"what", "flr"}}));
}

TEST_F(ControlServerTest, MarksAreInTheTrace) {
    EXPECT_TRUE(ok({{"do", "mark"}, {"label", "here"}}));
    EXPECT_FALSE(ok({{"do", "mark"}}));
    server.reset();
    gate.reset();
    trace.reset();
    auto reader = TraceReader::open(folder.root() / "trace");
    ASSERT_TRUE(reader);
    const auto record = reader->next();
    ASSERT_TRUE(record);
    EXPECT_EQ(mark_text(*record), "here");
}

TEST_F(ControlServerTest, NonsenseIsAnErrorAndNoMore) {
    EXPECT_EQ(server->handle({{"do", "dance"}})["error"], "unknown request 'dance'");
    for (const json& request :
         {json(), json(3), json::array(), json::object(), json{{"do", 3}}, json{{"do", "flaky"}},
          json{{"do", "flaky"}, {"ms", -1}}, json{{"do", "flaky"}, {"ms", 1e30}},
          json{{"do", "flaky"}, {"ms", "5"}}, json{{"do", "delay"}, {"us", 10'000'001}},
          json{{"do", "drop_irq"}, {"count", nullptr}}, json{{"do", "counters"}, {"reset", 1}}}) {
        const json answer = server->handle(request);
        EXPECT_EQ(answer["ok"], false) << request;
        EXPECT_TRUE(answer["error"].is_string()) << request;
    }
    EXPECT_EQ(gate->state(), LossGate::State::present);
}

TEST_F(ControlServerTest, ABlackHoleStaysWhatItIs) {
    device->black_hole = true;
    EXPECT_FALSE(ok({{"do", "restore"}}));
    EXPECT_FALSE(ok({{"do", "ras"}, {"block", "umc"}, {"severity", "poison"}}));
    EXPECT_FALSE(ok({{"do", "vram_count"}, {"value", 1}}));
    EXPECT_TRUE(device->injected.empty());
    EXPECT_FALSE(ok({{"do", "hang"}}));
    EXPECT_TRUE(ok({{"do", "counters"}}));
}

TEST_F(ControlServerTest, SeveralClientsTalkAndHearOfEvents) {
    std::thread loop_thread([this] { loop.run(); });
    const auto client = [this] {
        auto socket = hp::connect_unix(path, 5s);
        EXPECT_TRUE(socket);
        const timeval limit{.tv_sec = 10, .tv_usec = 0};
        ::setsockopt(socket->get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        return std::move(*socket);
    };
    const auto line = [](const hp::Fd& socket) {
        std::string text;
        char c = 0;
        while (::recv(socket.get(), &c, 1, 0) == 1 && c != '\n') {
            text += c;
        }
        return json::parse(text, nullptr, false);
    };
    const auto say = [](const hp::Fd& socket, const std::string& text) {
        EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    };
    {
        const hp::Fd first = client();
        const hp::Fd second = client();
        say(second, "{\"id\":1,\"do\":\"status\"}\n");
        EXPECT_EQ(line(second)["id"], 1);
        say(first, "rubbish\n");
        EXPECT_EQ(line(first)["ok"], false);
        say(first, "{\"id\":\"w\",\"do\":\"vanish_after\",\"accesses\":9}\n");
        EXPECT_EQ(line(first)["ok"], true);
        say(first, "{\"id\":\"x\",\"do\":\"vanish\"}\n");
        const std::string nothing = "cbf29ce484222325";
        EXPECT_EQ(
            line(first),
            (json{{"event", "vanished"},
                  {"accesses", 0},
                  {"prefix", {{"accesses", 0}, {"digest", nothing}, {"cpu_digest", nothing}}}}));
        EXPECT_EQ(line(first), (json{{"id", "x"}, {"ok", true}}));
        EXPECT_EQ(line(second)["event"], "vanished");
    }
    const hp::Fd last = client();
    say(last, "{\"id\":2,\"do\":\"shutdown\"}\n");
    EXPECT_EQ(line(last), (json{{"id", 2}, {"ok", true}}));
    loop_thread.join();
}

/// Lowers the limit of open files to what is open, and gives it back.
class NoFileLeft {
public:
    NoFileLeft() {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        const hp::Fd next(::dup(0));  // the lowest that is free
        rlimit none = before_;
        none.rlim_cur = static_cast<rlim_t>(next.get());
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    }
    ~NoFileLeft() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

private:
    rlimit before_{};
};

TEST_F(ControlServerTest, WithoutAFileForAClientTheLoopSleepsAndTriesAgain) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "UBSan's check of a vptr opens a pipe, and takes an object for none without";
#endif
    const auto waiting = hp::connect_unix(path, 10s);
    ASSERT_TRUE(waiting);
    int turns = 0;
    const auto run_for_a_while = [&] {
        loop.set_idle_work([&] {
            ++turns;
            return hp::EventLoop::Idle::done;
        });
        const auto end = loop.after(200ms, [&] { loop.stop(); });
        loop.run();
    };
    {
        const NoFileLeft no_file_left;
        run_for_a_while();
    }
    EXPECT_LE(turns, 10);
    loop.set_idle_work({});
    const std::string request = "{\"do\":\"status\"}\n";
    ASSERT_EQ(::send(waiting->get(), request.data(), request.size(), 0), ssize_t(request.size()));
    std::array<char, 1024> answer{};
    EXPECT_TRUE(hp::run_until(loop, [&] {
        return ::recv(waiting->get(), answer.data(), answer.size(), MSG_DONTWAIT) > 0;
    })) << "it is accepted once there is a file for it";
}

TEST_F(ControlServerTest, ClientsAreBounded) {
    constexpr int many = 100;
    std::vector<hp::Fd> clients;
    for (int count = 0; count < many; ++count) {
        auto client = hp::try_connect_unix(path);
        ASSERT_TRUE(client);
        ASSERT_TRUE(*client);
        clients.push_back(std::move(*client));
        ASSERT_TRUE(hp::run_until(loop, [turn = 0]() mutable { return ++turn == 3; }));
    }
    const auto closed = [](const hp::Fd& client) {
        char byte = 0;
        return ::recv(client.get(), &byte, 1, MSG_DONTWAIT) == 0;
    };
    EXPECT_EQ(std::ranges::count_if(clients, closed), many - 32);
    EXPECT_FALSE(closed(clients.front())) << "who was there stays";
    clients.erase(clients.begin());
    ASSERT_TRUE(hp::run_until(loop, [turn = 0]() mutable { return ++turn == 5; }));
    auto next = hp::try_connect_unix(path);
    ASSERT_TRUE(next);
    ASSERT_TRUE(hp::run_until(loop, [turn = 0]() mutable { return ++turn == 5; }));
    EXPECT_FALSE(closed(*next)) << "there is room for one again";
}

}  // namespace
}  // namespace gpuemu
