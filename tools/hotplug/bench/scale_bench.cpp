// SPDX-License-Identifier: GPL-2.0
// Purpose: what many GPUs cost the host and each other. An emulator alone,
// then one guest with many GPUs, of which one is lost by surprise and replaced, then many guests at
// once. It fails when a GPU does not come up or does not do its job, and when an emulator keeps
// more memory than it may. Thread: one, and one for each of the guests at once, which starts its
// machine, and ends it when all have been looked at.
#include "hotplug/bench/scale_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <latch>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "hotplug/base/temporary_directory.h"
#include "hotplug/bench/figures.h"
#include "hotplug/bench/median.h"
#include "hotplug/bench/probe_times.h"
#include "hotplug/bench/process_figures.h"
#include "hotplug/bench/times.h"
#include "hotplug/bench/vram_client.h"
#include "hotplug/loss/loss.h"
#include "hotplug/machine/host_memory.h"
#include "hotplug/machine/machine.h"
#include "hotplug/run/runner_client.h"

namespace hotplug {

namespace {

using Json = nlohmann::ordered_json;
using std::chrono::duration;
namespace fs = std::filesystem;

constexpr double mib = 1u << 20;
constexpr auto emulator_deadline = std::chrono::seconds(30);
/// For each GPU of all that work at once: a guest is emulated, and so is its time.
constexpr auto job_deadline = std::chrono::seconds(60);
/// What --boot-timeout is for, of all that boot at once.
constexpr unsigned usual_gpus = 2;
constexpr unsigned submissions = 40;
/// Of the guest with many GPUs: what it needs without any, and what amdgpu takes for each.
constexpr unsigned guest_mib = 2048, guest_mib_per_gpu = 128;
/// Pages touched at each place of VRAM.
constexpr unsigned pages = 16;
constexpr uint64_t page_bytes = 4096;

/// Least, median and most of some figure.
struct Spread {
    std::vector<double> values;

    bool empty() const { return values.empty(); }
    double most() const { return *std::max_element(values.begin(), values.end()); }
    double least() const { return *std::min_element(values.begin(), values.end()); }
    double median() const { return median_of(values); }
    std::string text(const char* unit) const {
        return empty()
                   ? "none"
                   : fmt::format("{:.1f} / {:.1f} / {:.1f} {}", least(), median(), most(), unit);
    }
    Json json() const {
        return empty() ? Json() : Json{{"least", least()}, {"median", median()}, {"most", most()}};
    }
};

/// The emulators of some machines: those of GPUs, and those of black holes.
struct Emulators {
    std::vector<EmulatorProcess*> gpus, holes;

    void add(Machine& machine) {
        for (size_t i = 0; i < machine.slot_count(); ++i) {
            gpus.push_back(machine.slot(i).gpu_process());
            holes.push_back(machine.slot(i).hole_process());
        }
    }
};

/// A job that ends by itself, or one that goes on.
hp::Result<JobId> start_job(Machine& machine, size_t slot, const std::vector<std::string>& options,
                            const GuestState& state) {
    const auto bdf = machine.slot(slot).bdf();
    if (!bdf) {
        return tl::unexpected(bdf.error());
    }
    const DrmNode* node = state.find_drm(*bdf);
    if (node == nullptr) {
        return hp::fail(fmt::format("{} has no render node", *bdf));
    }
    std::vector<std::string> argv{"drm_submitter", "/dev/dri/" + node->minor};
    argv.insert(argv.end(), options.begin(), options.end());
    return machine.agent().spawn(fmt::format("drm_submitter@{}", slot), argv);
}

std::string last_line_of(AgentClient& agent, JobId job) {
    const JobView view = agent.job(job);
    return view.lines.empty() ? "(it printed nothing)" : view.lines.back().text;
}

/// "guest-3/gpu0": several machines have a gpu0.
std::string full_name(const EmulatorProcess& emulator) {
    return emulator.spec().log_dir.filename().string() + "/" + emulator.spec().name;
}

class Scale {
public:
    Scale(const MachineConfig& base, const ScaleBench& options, fs::path results)
        : base_(base), options_(options), results_(std::move(results)) {}

    hp::Result<bool> run() {
        // Before anything else: guests that start at once do not see each other's memory yet.
        for (const auto& fits : {check_memory(config_of_one()),
                                 check_memory(config_of_many(0), std::max(options_.vms, 1u))}) {
            if (!fits) {
                return tl::unexpected(fits.error());
            }
        }
        std::error_code error;
        fs::create_directories(results_ / "scale", error);
        note(emulator_alone());
        note(one_guest());
        if (options_.vms > 0) {
            many_guests();
        }
        figures_["problems"] = problems_;
        return write_figures(results_ / "bench-scale.json", figures_).map([&] {
            return problems_.empty();
        });
    }

private:
    void fail(const std::string& problem) {
        fmt::print("FAILS: {}\n", problem);
        std::fflush(stdout);
        problems_.push_back(problem);
    }

    void note(const hp::Result<void>& result) {
        if (!result) {
            fail(result.error().message);
        }
    }

    MachineConfig with_gpus(unsigned gpus, const std::string& name, unsigned at_once) const {
        MachineConfig config = base_;
        SlotConfig slot = base_.slots.front();
        slot.gpu.trace = false;
        config.slots.assign(gpus, slot);
        config.log_dir = results_ / "scale" / name;
        const unsigned usual = std::max(1u, at_once / usual_gpus);
        config.boot_deadline = base_.boot_deadline * usual;
        config.probe_deadline = base_.probe_deadline * usual;
        return config;
    }

    unsigned gpus_of_one() const { return static_cast<unsigned>(base_.slots.size()); }

    MachineConfig config_of_one() const {
        const unsigned gpus = gpus_of_one();
        MachineConfig config = with_gpus(gpus, "one-guest", gpus);
        config.memory_mib = std::max(config.memory_mib, guest_mib + gpus * guest_mib_per_gpu);
        return config;
    }

    MachineConfig config_of_many(unsigned guest) const {
        MachineConfig config = with_gpus(options_.gpus_per_vm, fmt::format("guest-{}", guest),
                                         options_.vms * options_.gpus_per_vm);
        config.largest_vram_mib = options_.vram_mib;
        for (SlotConfig& slot : config.slots) {
            slot.gpu.vram_mib = options_.vram_mib;
        }
        return config;
    }

    /// The emulator's memory; more than it may have is a problem.
    hp::Result<ProcessMemory> look(EmulatorProcess& emulator, const std::string& what) {
        const auto memory = process_memory(emulator.pid());
        if (memory && memory->total() > uint64_t{options_.memory_limit_mib} << 20) {
            fail(fmt::format("{}: {:.1f} MiB resident, {} is the limit", what,
                             static_cast<double>(memory->total()) / mib,
                             options_.memory_limit_mib));
        }
        return memory;
    }

    /// Resident memory and idle CPU time of emulators whose guests have nothing to do.
    hp::Result<Json> cost(const Emulators& emulators) {
        Json json;
        for (const auto& [kind, processes] :
             {std::pair{"gpu", &emulators.gpus}, std::pair{"black_hole", &emulators.holes}}) {
            Spread total, own, memfds;
            for (EmulatorProcess* process : *processes) {
                const auto memory = look(*process, full_name(*process));
                if (!memory) {
                    return tl::unexpected(memory.error());
                }
                total.values.push_back(static_cast<double>(memory->total()) / mib);
                own.values.push_back(static_cast<double>(memory->own) / mib);
                memfds.values.push_back(static_cast<double>(memory->memfds) / mib);
            }
            print_figure(fmt::format("  resident, emulator of a {} (least / median / most)",
                                     kind == std::string_view("gpu") ? "GPU" : "black hole"),
                         total.text("MiB"));
            print_figure("    of that, VRAM", memfds.text("MiB"));
            json[kind] = {{"resident_mib", total.json()},
                          {"own_mib", own.json()},
                          {"vram_mib", memfds.json()}};
        }
        const auto idle = idle_cpu(emulators.gpus);
        if (!idle) {
            return tl::unexpected(idle.error());
        }
        double sum = 0;
        for (const double value : idle->values) {
            sum += value;
        }
        print_figure("  CPU of a GPU's emulator while idle (least / median / most)",
                     idle->text("ms per s"));
        print_figure("  CPU of all of them", fmt::format("{:.1f} ms per s", sum));
        json["idle_cpu_ms_per_s"] = idle->json();
        json["idle_cpu_ms_per_s"]["all"] = sum;
        return json;
    }

    hp::Result<Spread> idle_cpu(const std::vector<EmulatorProcess*>& processes) const {
        using Clock = Deadline::Clock;
        std::vector<std::pair<std::chrono::nanoseconds, Clock::time_point>> before;
        for (EmulatorProcess* process : processes) {
            const auto used = process_cpu_time(process->pid());
            if (!used) {
                return tl::unexpected(used.error());
            }
            before.emplace_back(*used, Clock::now());
        }
        const auto span = std::chrono::seconds(options_.idle_s);
        Deadline::after(span).pause(span);
        Spread idle;
        for (size_t i = 0; i < processes.size(); ++i) {
            const auto used = process_cpu_time(processes[i]->pid());
            if (!used) {
                return tl::unexpected(used.error());
            }
            idle.values.push_back(1000 * in_seconds(*used - before[i].first) /
                                  in_seconds(Clock::now() - before[i].second));
        }
        return idle;
    }

    /// Memory of an emulator that no guest has: before anybody touched its VRAM, and after.
    hp::Result<void> emulator_alone() {
        const auto sockets = TemporaryDirectory::make();
        if (!sockets) {
            return tl::unexpected(sockets.error());
        }
        EmulatorSpec spec{.name = "alone",
                          .program = base_.emulator,
                          .socket_dir = sockets->path(),
                          .log_dir = results_ / "scale",
                          .gpu = {.profile = base_.slots.front().gpu.profile,
                                  .device_id = std::nullopt,
                                  .vram_mib = options_.vram_mib,
                                  .trace = false}};
        auto emulator = EmulatorProcess::start(std::move(spec), Deadline::after(emulator_deadline));
        if (!emulator) {
            return tl::unexpected(emulator.error());
        }
        fmt::print("An emulator alone, {} MiB of VRAM\n", options_.vram_mib);
        const auto idle = look(**emulator, "emulator alone, untouched");
        if (!idle) {
            return tl::unexpected(idle.error());
        }
        if (const auto touched = touch_vram(**emulator); !touched) {
            return touched;
        }
        const auto used = look(**emulator, "emulator alone, VRAM touched");
        if (!used) {
            return tl::unexpected(used.error());
        }
        const auto text = [](const ProcessMemory& memory) {
            return fmt::format("{:.1f} MiB, of that VRAM {:.2f} MiB",
                               static_cast<double>(memory.total()) / mib,
                               static_cast<double>(memory.memfds) / mib);
        };
        print_figure("  resident, untouched", text(*idle));
        print_figure(
            fmt::format("  resident, {} pages touched at each end and in the middle", pages),
            text(*used));
        for (const auto& [name, memory] :
             {std::pair{"untouched", *idle}, std::pair{"touched", *used}}) {
            figures_["emulator_alone"][name] = {
                {"resident_mib", static_cast<double>(memory.total()) / mib},
                {"vram_mib", static_cast<double>(memory.memfds) / mib}};
        }
        figures_["emulator_alone"]["vram_size_mib"] = options_.vram_mib;
        return (*emulator)->stop();
    }

    hp::Result<void> touch_vram(EmulatorProcess& emulator) const {
        auto client = VramClient::connect(emulator.vfio_user_socket(), emulator_deadline);
        if (!client) {
            return tl::unexpected(client.error());
        }
        const uint64_t size = uint64_t{options_.vram_mib} << 20;
        const uint64_t span = pages * page_bytes;
        for (const uint64_t start : {uint64_t{0}, size / 2 - span / 2, size - span}) {
            for (uint64_t offset = start; offset < start + span; offset += page_bytes) {
                const auto value = static_cast<uint32_t>(offset / page_bytes) | 1;
                if (const auto written = client->write(offset, value); !written) {
                    return written;
                }
                const auto read = client->read(offset);
                if (!read) {
                    return tl::unexpected(read.error());
                }
                if (*read != value) {
                    return hp::fail(fmt::format("VRAM at {:#x} reads {:#x}, {:#x} was written",
                                                offset, *read, value));
                }
            }
        }
        return {};
    }

    hp::Result<void> one_guest() {
        const unsigned gpus = gpus_of_one();
        MachineConfig config = config_of_one();
        fmt::print("One guest with {} GPU{}, {} MiB of memory\n", gpus, gpus == 1 ? "" : "s",
                   config.memory_mib);
        auto machine = Machine::start(std::move(config));
        if (!machine) {
            return hp::fail(
                fmt::format("one guest with {} GPUs: {}", gpus, machine.error().message));
        }
        Json& json = figures_["one_guest"];
        json = {{"gpus", gpus},
                {"to_agent_s", in_seconds((*machine)->time_to_agent())},
                {"to_all_bound_s", in_seconds((*machine)->time_to_driver())}};
        print_figure("  start of QEMU to agent",
                     fmt::format("{:.1f} s", in_seconds((*machine)->time_to_agent())));
        print_figure("  start of QEMU to the last GPU bound",
                     fmt::format("{:.1f} s", in_seconds((*machine)->time_to_driver())));
        probes(**machine, json);
        Emulators emulators;
        emulators.add(**machine);
        const auto done = cost(emulators)
                              .map([&](const Json& cost) { json["emulators"] = cost; })
                              .and_then([&]() { return jobs_on_all(**machine); })
                              .map([&] {
                                  print_figure("  GPUs that did their jobs, all at once",
                                               fmt::format("{} of {}", gpus, gpus));
                              })
                              .and_then([&]() { return lose_one(**machine, json); });
        if (!done) {
            return hp::fail(fmt::format("one guest with {} GPUs: {}", gpus,
                                        (*machine)->explain(done.error()).message));
        }
        return (*machine)->stop();
    }

    /// How long each probe took: is the last one as fast as the first?
    static void probes(Machine& machine, Json& json) {
        const std::vector<KernelLine> log = machine.agent().kernel_log();
        Spread spread;
        for (const auto& [bdf, time] : probe_times(log)) {
            spread.values.push_back(in_seconds(time));
        }
        print_figure("  probe of a GPU, guest's time (least / median / most)", spread.text("s"));
        json["probe_s"] = spread.json();
        json["probe_s"]["each"] = spread.values;
    }

    static hp::Result<void> jobs_on_all(Machine& machine) {
        AgentClient& agent = machine.agent();
        const auto state = agent.state(Deadline::after(answer_deadline));
        if (!state) {
            return tl::unexpected(state.error());
        }
        std::vector<JobId> jobs;
        for (size_t slot = 0; slot < machine.slot_count(); ++slot) {
            const auto job =
                start_job(machine, slot, {"--count", std::to_string(submissions)}, *state);
            if (!job) {
                return tl::unexpected(job.error());
            }
            jobs.push_back(*job);
        }
        const Deadline deadline = Deadline::after(job_deadline * jobs.size());
        for (size_t slot = 0; slot < jobs.size(); ++slot) {
            const auto end = agent.wait_exit(jobs[slot], deadline);
            if (!end) {
                return tl::unexpected(end.error());
            }
            if (end->status != 0) {
                return hp::fail(fmt::format("the job of the GPU in slot {} ended with {}: {}", slot,
                                            end->status, last_line_of(agent, jobs[slot])));
            }
        }
        return {};
    }

    /// The last GPU, while the first one works.
    static hp::Result<void> lose_one(Machine& machine, Json& json) {
        if (machine.slot_count() < 2) {
            return {};
        }
        AgentClient& agent = machine.agent();
        GpuSlot& victim = machine.slot(machine.slot_count() - 1);
        const auto state = agent.state(Deadline::after(answer_deadline));
        if (!state) {
            return tl::unexpected(state.error());
        }
        const auto bystander = start_job(machine, 0, {"--pause", "20"}, *state);
        if (!bystander) {
            return tl::unexpected(bystander.error());
        }
        if (const auto at_work = progress(agent, *bystander); !at_work) {
            return at_work;
        }
        const auto lost = lose(machine, victim, Loss::surprise, Deadline::after(removal_deadline));
        if (!lost) {
            return tl::unexpected(lost.error());
        }
        if (!lost->remove_returned) {
            return hp::fail(fmt::format("surprise: {}", lost->stuck));
        }
        Replacement another;
        another.other_board = true;
        const auto back =
            recover(machine, victim, Loss::surprise, another, Deadline::after(replug_deadline));
        if (!back) {
            return tl::unexpected(back.error());
        }
        if (!back->ready) {
            return hp::fail(fmt::format("replug: {}{}", back->stuck, back->refused));
        }
        const auto again = progress(agent, *bystander);
        const auto stall = longest_stall(agent.job(*bystander), lost->event);
        if (!again) {
            return again;
        }
        const auto ended = agent.signal(*bystander, SIGTERM).and_then([&] {
            return agent.wait_exit(*bystander, Deadline::after(answer_deadline));
        });
        if (!ended) {
            return tl::unexpected(ended.error());
        }
        const ClientLine last = parse_client_line(last_line_of(agent, *bystander));
        if (last.bad != 0) {
            return hp::fail(fmt::format("the GPU that stayed computed wrongly: {}", last.text));
        }
        if (const auto worked = jobs_on_all(machine); !worked) {
            return hp::fail("after the replug: " + worked.error().message);
        }
        print_figure("  one lost by surprise: removal returned",
                     fmt::format("{:.2f} s", in_seconds(*lost->remove_returned)));
        print_figure("  another board in its place: ready",
                     fmt::format("{:.1f} s", in_seconds(*back->ready)));
        print_figure("  longest stall of the first GPU's client meanwhile",
                     fmt::format("{:.2f} s", in_seconds(stall)));
        json["surprise"] = {{"removal_returned_s", in_seconds(*lost->remove_returned)},
                            {"replug_ready_s", in_seconds(*back->ready)},
                            {"bystander_stall_s", in_seconds(stall)}};
        return {};
    }

    /// Waits for one line more that tells of work done.
    static hp::Result<void> progress(AgentClient& agent, JobId job) {
        const auto line = agent.wait_output(
            job, agent.job(job).lines.size(),
            [](const std::string& text) { return parse_client_line(text).state == "progress"; },
            "a client to go on", Deadline::after(answer_deadline));
        return line ? hp::Result<void>() : tl::unexpected(line.error());
    }

    static std::chrono::nanoseconds longest_stall(const JobView& job,
                                                  Deadline::Clock::time_point from) {
        std::chrono::nanoseconds longest{0};
        Deadline::Clock::time_point last = from;
        for (const OutputLine& line : job.lines) {
            if (line.received > from && parse_client_line(line.text).state == "progress") {
                longest = std::max<std::chrono::nanoseconds>(longest, line.received - last);
                last = line.received;
            }
        }
        return longest;
    }

    void many_guests() {
        const unsigned guests = options_.vms, gpus = options_.gpus_per_vm;
        fmt::print("{} guests at once with {} GPU{} each, {} MiB of VRAM\n", guests, gpus,
                   gpus == 1 ? "" : "s", options_.vram_mib);
        std::fflush(stdout);
        struct Guest {
            std::unique_ptr<Machine> machine;
            hp::Result<void> result;
        };
        std::vector<Guest> all(guests);
        std::latch up(guests), looked_at(1);
        const auto begin = Deadline::Clock::now();
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < guests; ++i) {
            threads.emplace_back([&guest = all[i], &up, &looked_at, config = config_of_many(i)] {
                auto machine = Machine::start(config);
                if (machine) {
                    guest.machine = std::move(*machine);
                } else {
                    guest.result = tl::unexpected(machine.error());
                }
                up.count_down();
                looked_at.wait();
                if (guest.machine) {
                    guest.result = jobs_on_all(*guest.machine).map_error([&](hp::Error error) {
                        return guest.machine->explain(std::move(error));
                    });
                    const auto ended = guest.machine->stop();
                    guest.result = guest.result ? ended : guest.result;
                }
            });
        }
        up.wait();
        const auto booted = Deadline::Clock::now() - begin;
        Emulators emulators;
        Spread to_driver;
        for (Guest& guest : all) {
            if (guest.machine) {
                emulators.add(*guest.machine);
                to_driver.values.push_back(in_seconds(guest.machine->time_to_driver()));
            }
        }
        Json& json = figures_["many_guests"];
        json = {{"guests", guests},
                {"gpus_of_each", gpus},
                {"vram_size_mib", options_.vram_mib},
                {"to_all_bound_s", in_seconds(booted)},
                {"to_bound_s", to_driver.json()}};
        print_figure("  guests whose GPUs are all bound",
                     fmt::format("{} of {}", to_driver.values.size(), guests));
        print_figure("  start of QEMU to bound driver (least / median / most)",
                     to_driver.text("s"));
        if (!emulators.gpus.empty()) {
            if (const auto figures = cost(emulators)) {
                json["emulators"] = *figures;
            } else {
                fail(figures.error().message);
            }
        }
        looked_at.count_down();
        threads.clear();  // waits for them
        unsigned worked = 0;
        for (unsigned i = 0; i < guests; ++i) {
            worked += all[i].result ? 1 : 0;
            if (!all[i].result) {
                fail(fmt::format("guest {} of {}: {}", i, guests, all[i].result.error().message));
            }
        }
        print_figure("  guests whose GPUs did their jobs, all at once",
                     fmt::format("{} of {}", worked, guests));
        json["worked"] = worked;
    }

    const MachineConfig& base_;
    const ScaleBench& options_;
    fs::path results_;
    Json figures_;
    std::vector<std::string> problems_;
};

}  // namespace

hp::Result<bool> run_scale_bench(const MachineConfig& base, const ScaleBench& options,
                                 const fs::path& results) {
    return Scale(base, options, results).run();
}

}  // namespace hotplug
