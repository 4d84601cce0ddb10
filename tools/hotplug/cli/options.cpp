// SPDX-License-Identifier: GPL-2.0
// Purpose: see options.h.
// Thread: one.
#include "hotplug/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "hotplug/base/child_process.h"
#include "hotplug/base/parts.h"
#include "hotplug/cli/describe_options.h"
#include "hotplug/machine/host_tools.h"
#include "hotplug/machine/kvm_probe.h"
#include "hotplug/report/kcidb.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;

constexpr auto script_deadline = std::chrono::minutes(20);

std::optional<fs::path> named(const std::string& path) {
    return path.empty() ? std::nullopt : std::optional<fs::path>(path);
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// "debian" or "debian:VERSION".
bool is_package(const std::string& kernel) {
    return kernel == "debian" || kernel.starts_with("debian:");
}

/// The file or folder that a script names in its last line. `what` it is to make: for errors.
hp::Result<fs::path> made_by(const Command& command, const std::string& what) {
    const std::string& script = command.argv.front();
    const auto output = run_and_capture(command, Deadline::after(script_deadline));
    if (!output) {
        return hp::fail(fmt::format("no {}: {}", what, output.error().message));
    }
    const size_t end = output->find_last_not_of('\n') + 1;
    const size_t begin = end == 0 ? 0 : output->rfind('\n', end - 1) + 1;
    const fs::path made = output->substr(begin, end - begin);
    std::error_code error;
    if (!fs::exists(made, error)) {
        return hp::fail(fmt::format("no {}: {} named '{}'", what, script, made.string()));
    }
    return made;
}

/// Debian's own package, unpacked into the cache by a script.
hp::Result<fs::path> find_package(const std::string& kernel) {
    const auto scripts = script_folder();
    if (!scripts) {
        return tl::unexpected(scripts.error());
    }
    std::vector<std::string> command = {*scripts / "guest/debian-kernel"};
    if (const size_t colon = kernel.find(':'); colon != std::string::npos) {
        command.push_back(kernel.substr(colon + 1));
    }
    return made_by(Command{std::move(command), {}}, "kernel " + kernel);
}

/// `kernel` is a built tree or a vmlinuz-RELEASE beside its modules.
bool has_modules(const fs::path& kernel) {
    std::error_code error;
    return fs::is_directory(kernel, error) || kernel.filename().string().starts_with("vmlinuz-");
}

hp::Result<fs::path> find_initrd(const std::string& initrd, const fs::path& kernel) {
    std::error_code error;
    if (!initrd.empty()) {
        if (!fs::is_regular_file(initrd, error)) {
            return hp::fail(fmt::format("{}: no such guest image (--initrd)", initrd));
        }
        return fs::absolute(initrd);
    }
    if (!has_modules(kernel)) {
        return hp::fail(fmt::format(
            "no guest image for {}: name one by --initrd, or give --kernel a built tree or a "
            "vmlinuz-RELEASE",
            kernel.string()));
    }
    const Parts parts = Parts::of_this_program();
    const auto script = parts.find(Part::image_script);
    const auto programs = parts.find(Part::guest_programs);
    if (!script || !programs) {
        return tl::unexpected(script ? programs.error() : script.error());
    }
    return made_by(Command{{*script, kernel}, {{"HP_TOOLS", *programs}}},
                   "guest image for " + kernel.string());
}

/// The host's or that of the Debian root named, else one of a Debian root that a script unpacks
/// into the cache.
hp::Result<QemuCommand> find_or_fetch_qemu(const std::string& toolroot) {
    auto qemu = find_qemu(named(toolroot));
    if (qemu || !toolroot.empty() || !environment("HP_TOOLROOT").empty()) {
        return qemu;
    }
    const auto root = script_folder().and_then([](const fs::path& scripts) {
        return made_by(Command{{scripts / "guest/toolroot"}, {}}, "Debian root with a QEMU");
    });
    if (!root) {
        return hp::fail(fmt::format("{}; {}", qemu.error().message, root.error().message));
    }
    return find_qemu(*root);
}

void append_path(std::vector<std::string>& arguments, const char* option, const std::string& path) {
    if (!path.empty()) {
        arguments.insert(arguments.end(), {option, fs::absolute(path).string()});
    }
}

}  // namespace

void MachineOptions::add_to(CLI::App& app) {
    app.add_option("--kernel", kernel,
                   "debian[:VERSION] for Debian's package, a built kernel tree, a bzImage, or "
                   "/boot/vmlinuz-RELEASE")
        ->required();
    app.add_option("--initrd,--image", initrd, "guest image; default: made for the tree or package")
        ->type_name(file_type);
    app.add_option("--toolroot", toolroot, "Debian root with a QEMU to use instead of the host's")
        ->type_name(folder_type);
    app.add_option("--emulator", emulator, "amdgpu-emu to use instead of this build's")
        ->type_name(file_type);
    app.add_option("--profile", profile, "profile of the emulated GPUs")->capture_default_str();
    app.add_option("--accel", accelerator,
                   "auto: KVM if a guest boots with it within seconds, else TCG")
        ->check(CLI::IsMember({"auto", "tcg", "kvm"}))
        ->capture_default_str();
    app.add_option("--append", append, "append to the guest's kernel command line");
    app.add_option("--gpus", gpus, "GPUs in the guest")
        ->check(CLI::Range(1u, GpuSlot::max_slots))
        ->capture_default_str();
    app.add_flag("--switch", behind_switch,
                 "put the GPUs behind one PCIe switch, next to a device that does DMA");
    app.add_option("--opposite", opposites,
                   "emulated GPUs that do the opposite of what is assumed of the hardware, see "
                   "amdgpu-emu --list-opposites; may be repeated")
        ->allow_extra_args(false);
    app.add_flag("--iommu", iommu,
                 "let an IOMMU translate the GPUs' DMA, so that DMA to memory which the driver has "
                 "unmapped fails the row; the kernel needs CONFIG_INTEL_IOMMU");
    app.add_option("--cpus", cpus, "the guest's CPUs")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    app.add_option("--memory", memory_mib, "the guest's memory in MiB")->capture_default_str();
    app.add_option("--boot-timeout", boot_timeout_s,
                   "seconds for the agent to come up, and again for the driver to bind")
        ->capture_default_str();
}

std::vector<std::string> MachineOptions::arguments() const {
    std::vector<std::string> all;
    if (is_package(kernel)) {
        all.insert(all.end(), {"--kernel", kernel});
    } else {
        append_path(all, "--kernel", kernel);
    }
    append_path(all, "--initrd", initrd);
    append_path(all, "--toolroot", toolroot);
    append_path(all, "--emulator", emulator);
    all.insert(all.end(),
               {"--profile", profile, "--accel", accelerator, "--gpus", std::to_string(gpus),
                "--cpus", std::to_string(cpus), "--memory", std::to_string(memory_mib),
                "--boot-timeout", std::to_string(boot_timeout_s)});
    if (behind_switch) {
        all.push_back("--switch");
    }
    if (iommu) {
        all.push_back("--iommu");
    }
    for (const std::string& opposite : opposites) {
        all.insert(all.end(), {"--opposite", opposite});
    }
    if (!append.empty()) {
        all.push_back("--append=" + append);
    }
    return all;
}

hp::Result<MachineConfig> MachineOptions::machine_config() const {
    auto image = find_kernel(kernel);
    if (!image) {
        return tl::unexpected(image.error());
    }
    auto root = find_initrd(initrd, is_package(kernel) ? *image : fs::path(kernel));
    if (!root) {
        return tl::unexpected(root.error());
    }
    auto qemu = find_or_fetch_qemu(toolroot);
    if (!qemu) {
        return tl::unexpected(qemu.error());
    }
    auto program = find_emulator(named(emulator));
    if (!program) {
        return tl::unexpected(program.error());
    }
    MachineConfig config;
    config.kernel = *image;
    config.initrd = *root;
    config.qemu = *qemu;
    config.emulator = *program;
    config.extra_cmdline = append;
    config.memory_mib = memory_mib;
    config.cpus = cpus;
    config.slots = std::vector<SlotConfig>(gpus);
    config.behind_switch = behind_switch;
    config.iommu = iommu;
    for (SlotConfig& slot : config.slots) {
        slot.gpu.profile = profile;
        slot.gpu.opposites = opposites;
    }
    config.boot_deadline = std::chrono::seconds(boot_timeout_s);
    config.probe_deadline = std::chrono::seconds(boot_timeout_s);
    const bool kvm = accelerator == "kvm" || (accelerator == "auto" && kvm_is_of_use(config));
    config.accelerator = kvm ? Accelerator::kvm : Accelerator::tcg;
    return config;
}

void RunOptions::add_to(CLI::App& app) {
    machine.add_to(app);
    app.add_option("rows", rows, "rows, scenarios or tags (default: flagship)")
        ->type_name(row_type);
    app.add_option("--exclude", exclude,
                   "leave out these rows, scenarios or tags; * and ? match; may be repeated")
        ->allow_extra_args(false)
        ->type_name(row_type);
    app.add_option("--scenarios", scenarios, "folder of scenario files")->type_name(folder_type);
    app.add_option("--expected", expected,
                   "list of known failures, or 'none'; default: the list of the running kernel")
        ->type_name(file_type);
    app.add_option("--results", results, "where reports and logs go")
        ->capture_default_str()
        ->type_name(folder_type);
    app.add_option(
           "--seed", seed,
           "shuffles the rows and draws the losses of mixed-cycles; 0 keeps the rows' order")
        ->capture_default_str();
    app.add_option("--cycles", cycles, "how often cycle scenarios are repeated")
        ->check(CLI::Range(1, 1'000'000));
    add_watch_to(app);
    app.add_option("--repeat", repeat, "tries of each row; the reports say how many failed")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    app.add_option(
           "--guests", guests,
           "guests that run rows at once, 3 GiB and two busy processors each; what is timed "
           "is disturbed where the host has fewer")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    app.add_option("--run-timeout", run_timeout_s,
                   "seconds after which the run ends cleanly and names the rows it left out")
        ->check(CLI::Range(1, 10'000'000));
    app.add_option("--ktap", ktap,
                   "also write KTAP to this file; -: to standard output, as rows end")
        ->type_name(file_type);
    app.add_option("--junit", junit, "also write JUnit XML to this file")->type_name(file_type);
    auto* kcidb_option =
        app.add_option("--kcidb", kcidb, "write a KCIDB submission (v5.3 JSON) to this file")
            ->type_name(file_type);
    app.add_option("--kcidb-origin", kcidb_origin, "the CI system that submits it")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return is_kcidb_origin(text) ? "" : "may have a to z, 0 to 9 and _ only";
            },
            "NAME"))
        ->needs(kcidb_option)
        ->capture_default_str();
    app.add_option("--kcidb-build", kcidb_build,
                   "ORIGIN:ID of the build under test if already submitted; default: describe it")
        ->check(CLI::Validator(
            [](const std::string& text) { return is_kcidb_id(text) ? "" : "must be ORIGIN:ID"; },
            "ORIGIN:ID"))
        ->needs(kcidb_option);
    app.add_option("--quarantine", quarantine,
                   "list of rows that may fail until a date, with the reasons")
        ->type_name(file_type);
    app.add_option("--dump", dump,
                   "when to dump the guest's memory and say who waits for which lock: never, when "
                   "a row hangs (hang) or fails (fail); known failures are left alone")
        ->check(CLI::IsMember({"never", "hang", "fail"}))
        ->capture_default_str();
    app.add_option("--keep-dumps", keep_dumps,
                   "dumps to keep, 85 to 135 MB each; of the others only the list of tasks remains")
        ->check(CLI::Range(0, 1'000))
        ->capture_default_str();
    app.add_flag("--dry-run", dry_run, "print what would run in which guests, and boot nothing");
    app.add_flag("--update-expected", update_expected,
                 "write the failures to the list of known failures");
    app.add_flag("--fail-on-skip", fail_on_skip,
                 "a row that this kernel, machine or image cannot run fails the run");
    app.add_flag("--only-failed", only_failed,
                 "run only the rows that failed in the results folder");
}

void RunOptions::add_watch_to(CLI::App& app) {
    app.add_option("--watch", watch_s,
                   "seconds that a removal which misses its limit is watched at most, to tell how "
                   "late it is; default: what the row says")
        ->check(CLI::Range(1, 10'000));
}

std::vector<std::string> RunOptions::arguments() const {
    std::vector<std::string> all = machine.arguments();
    append_path(all, "--scenarios", scenarios);
    if (expected == "none") {
        all.insert(all.end(), {"--expected", expected});
    } else {
        append_path(all, "--expected", expected);
    }
    all.insert(all.end(), {"--seed", std::to_string(seed)});
    if (cycles) {
        all.insert(all.end(), {"--cycles", std::to_string(*cycles)});
    }
    if (watch_s) {
        all.insert(all.end(), {"--watch", std::to_string(*watch_s)});
    }
    if (fail_on_skip) {
        all.push_back("--fail-on-skip");
    }
    append_path(all, "--quarantine", quarantine);
    all.insert(all.end(), {"--dump", dump, "--keep-dumps", std::to_string(keep_dumps)});
    for (const std::string& pattern : exclude) {
        all.insert(all.end(), {"--exclude", pattern});
    }
    if (guests != 1) {
        all.insert(all.end(), {"--guests", std::to_string(guests)});
    }
    if (repeat != 1) {
        all.insert(all.end(), {"--repeat", std::to_string(repeat)});
    }
    return all;
}

std::span<const ExitMeaning> exit_table() {
    static constexpr ExitMeaning table[] = {
        {exit_pass, "everything is as expected"},
        {exit_fail, "a row failed, or the run itself has a flaw"},
        {exit_error,
         "the harness could not do what was asked; one line on standard error says why"},
        {exit_out_of_time, "--run-timeout ended the run, and nothing had failed until then"},
        {exit_no_bisection,
         "hpctl bisect: no commit can be judged, for example because the row does not exist"},
        {exit_interrupted, "Ctrl-C or SIGTERM ended it"},
    };
    return table;
}

std::span<const EnvironmentMeaning> environment_table() {
    static constexpr EnvironmentMeaning table[] = {
        {"HP_TOOLROOT",
         "Debian root with a QEMU, in case the host's is too old; default: made in the cache"},
        {"HP_IMAGE_SCRIPT",
         "another scripts/guest/image, which makes guest images; the scripts that fetch Debian's "
         "kernels and QEMU and that bisect lie beside it"},
        {"HP_TOOLS", "another build folder, whose programs go into guest images"},
        {"HP_IMAGE_PARTS",
         "optional parts of guest images, beside the programs that all rows need"},
        {"HP_EMULATOR", "amdgpu-emu to use instead of this build's"},
        {"HP_SCENARIOS", "folder of scenario files to use instead of this build's"},
    };
    return table;
}

hp::Result<fs::path> script_folder() {
    return Parts::of_this_program().find(Part::image_script).map([](const fs::path& image_script) {
        return image_script.parent_path().parent_path();
    });
}

hp::Result<fs::path> scenario_folder(const std::string& named) {
    if (!named.empty()) {
        return named;
    }
    return Parts::of_this_program().find(Part::scenarios);
}

hp::Result<fs::path> find_kernel(const std::string& path) {
    if (is_package(path)) {
        return find_package(path);
    }
    std::error_code error;
    const fs::path kernel = fs::absolute(path);
    if (fs::is_regular_file(kernel, error)) {
        return kernel;
    }
    if (!fs::is_directory(kernel, error)) {
        return hp::fail(fmt::format("{}: no such kernel tree or bzImage (--kernel)", path));
    }
    const fs::path image = kernel / "arch/x86/boot/bzImage";
    if (!fs::is_regular_file(image, error)) {
        return hp::fail(fmt::format("{}: no built kernel tree, {} is not there; run make in it",
                                    path, image.string()));
    }
    return image;
}

}  // namespace hotplug
