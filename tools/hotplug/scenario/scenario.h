// SPDX-License-Identifier: GPL-2.0
// Purpose: what a scenario is: steps on one guest, checks of what came of them, limits.
// parser.h reads it from a file, catalogue.h makes rows of it, runner.h runs a
// row. Thread: values.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hotplug/scenario/checks.h"
#include "hotplug/values/loss_kind.h"
#include "hotplug/values/replacement.h"

namespace hotplug {

/// A GPU of the row. The victim is the one that is lost; with cycles the two change places each
/// time.
enum class Role { victim, bystander };

std::string_view to_string(Role role);

/// A shell script beside the scenarios (scenarios/guest/NAME), and its arguments.
struct Script {
    std::string name;
    std::vector<std::string> arguments;
    std::string text = {};  ///< of the file; load_scenario() reads it

    /// "NAME ARGUMENT...": for progress lines and errors.
    std::string line() const;
    /// What sh has to be called with: the guest has no such file.
    std::vector<std::string> options() const;
};

/// Runs a program in the guest until it says that it is ready (the clients' contract in
/// protocols.md).
struct StartStep {
    std::string program;
    Role on = Role::victim;
    std::vector<std::string> options;   ///< shell-like $VARIABLES are filled in, see ShellStep
    std::optional<Script> script = {};  ///< the program is sh, and these are its options

    /// "drm_submitter@victim": how later steps and reports call it.
    std::string name() const;
};

/// Gives a running client a line on its standard input.
struct TellStep {
    std::string client;
    std::string line;
    /// Not empty: the client has to answer with a line of this state, with nothing `bad` in it.
    std::string answer = {};
    std::chrono::milliseconds deadline{10'000};
};

/// Ends a client with SIGTERM and waits for its end.
struct StopStep {
    std::string client;
};

struct LoseStep {
    Loss loss = Loss::surprise;
    /// Not empty: which of these it is depends on seed and cycle; Row::steps() decides.
    std::vector<Loss> drawn_from = {};
    /// at_access: see LossOptions::during; shell-like $VARIABLES are filled in, see ShellStep.
    std::string during = {};
    /// What the guest's shell runs while the removal is under way, as in ShellStep: it has to end
    /// with status 0 within the deadline, which counts from the removal's announcement.
    std::string meanwhile = {};
    std::chrono::milliseconds meanwhile_deadline{10'000};
    /// LossOptions::ones_before_event of a link that is down for a while.
    std::optional<std::chrono::milliseconds> ones = std::nullopt;
};

/// Gets the lost GPU back and runs a first job on it.
struct RecoverStep {
    Replacement replacement;
};

/// Runs a command with the guest's shell. $VICTIM and $BYSTANDER are PCI addresses, $VICTIM_NODE
/// and $BYSTANDER_NODE render nodes, $VICTIM_ID is KFD's gpu_id; they are those of the row's start.
struct ShellStep {
    std::string command;
    int status = 0;
    std::string output;  ///< must be contained in its standard output
    std::chrono::milliseconds deadline{30'000};
    std::optional<Script> script = {};  ///< instead of the command
    /// Not empty: another status or output is no failure, it says that the row did not come so far.
    std::string reaches = {};

    /// The command line, with the variables.
    std::vector<std::string> argv() const;
};

/// Waits until a client ends by itself, and well: with status 0.
struct AwaitStep {
    std::string client;
    std::chrono::milliseconds deadline{10'000};
};

/// Sends a request to the emulator of a GPU: a fault that is no removal, or the first part of one.
struct EmulateStep {
    nlohmann::json request;  ///< with "do", as protocols.md has it
    Role on = Role::victim;

    /// Does it make the device lie? Without a seed it gets one of the row's: Row::steps().
    bool hostile() const { return request.at("do") == "hostile"; }
};

/// Asks the emulator of a GPU, and judges the answer by JSON pointer.
struct AskStep {
    nlohmann::json request;  ///< as in EmulateStep; one that changes nothing
    Role on = Role::victim;
    std::vector<std::pair<std::string, nlohmann::json>> is = {};  ///< texts and numbers
    /// By how much numbers have to have grown since the step before that asked this GPU.
    std::vector<std::pair<std::string, uint64_t>> more = {};
};

/// Waits for a line of the kernel log that contains `text`, from the row's start on.
struct WaitStep {
    std::string text;  ///< shell-like $VARIABLES are filled in, see ShellStep
    std::chrono::milliseconds deadline{10'000};
};

/// Judges these checks now and not only at the end. The first failure counts.
struct ExpectStep {
    std::vector<Check> checks;
};

/// Lets time pass, for what sends no event: the absence of something.
struct SettleStep {
    std::chrono::milliseconds time{0};
};

using Step = std::variant<StartStep, TellStep, StopStep, AwaitStep, LoseStep, EmulateStep, AskStep,
                          RecoverStep, ShellStep, WaitStep, ExpectStep, SettleStep>;

/// `lose surprise`: for progress lines and errors.
std::string describe(const Step& step);

/// Limits fail a check; none of them ends a measurement early, see Documentation/harness/checks.md.
struct Limits {
    std::chrono::milliseconds removal{10'000};
    std::chrono::milliseconds clients{10'000};
    std::chrono::milliseconds replug{60'000};
    std::chrono::milliseconds stall{10'000};
    uint64_t accesses = 0;
    /// How long a removal that misses its limit is watched at most, to tell its true time. It is
    /// given up long before when it does nothing any more, so this is no stopwatch for slow hosts.
    std::chrono::milliseconds watch{300'000};
    /// How long a guest may take to come to rest before leaks are counted. No scenario needs
    /// another value.
    std::chrono::milliseconds settle{10'000};

    /// For a kernel whose checks make everything several times slower. Counts stay.
    Limits doubled() const;
};

struct Requirements {
    size_t gpus = 2;
    std::vector<std::string> kernel_options;  ///< "CONFIG_KASAN"
    std::vector<std::string> programs;        ///< "igt_runner", of an image part
    std::vector<std::string> profiles;        ///< empty: any
    bool behind_switch = false;               ///< see pcie_switch.h
};

struct Variant {
    std::string name;
    std::vector<Step> steps;  ///< run after the scenario's setup and before its steps
    /// Instead of the scenario's; nothing: the same.
    std::optional<std::vector<std::string>> tags = std::nullopt;
    /// Parameters and their values, see parameters.h.
    std::vector<std::pair<std::string, std::string>> with = {};
};

struct Scenario {
    std::string file;
    std::string id;
    std::string description;  ///< completes "This scenario ..."
    std::vector<std::string> tags;
    std::vector<std::string> reports;  ///< links to what users reported, which the rows do again
    Requirements requires_;
    std::vector<Step> setup;        ///< run before each variant's steps
    std::vector<Variant> variants;  ///< empty: the scenario is one row
    std::vector<Step> steps;
    std::vector<Check> checks;
    Limits limits;
    /// Parts of error lines that the steps may cause, with the variables of ShellStep.
    std::vector<std::string> may_log;
    bool fresh_boot = false;
    unsigned cycles = 0;  ///< not 0: the row is run that many times, victims alternate
    /// The rows are trials of the GPU pool, each named by its variant, which have guests of their
    /// own and no other step; how long one may take.
    std::optional<std::chrono::milliseconds> pool = std::nullopt;
    /// No soak: each cycle is a try of its own, and one that damaged the guest leaves it to no
    /// other.
    bool alone = false;
};

}  // namespace hotplug
