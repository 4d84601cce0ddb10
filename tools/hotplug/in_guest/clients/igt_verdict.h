// SPDX-License-Identifier: GPL-2.0
// Purpose: what IGT (igt-gpu-tools) said of its tests, in KTAP. A test counts as passed when
// igt_runner says `pass`, which excludes kernel messages of level warning and above
// (`dmesg-warn`), those excepted that the kernel has for this machine at each boot, and when it is
// none of the false passes that it is known for: each has a condition with which it is asked for. A
// skip counts only for the reason that was expected.
// Thread: pure functions. Not modelled: attachments and run times.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace hp::clients {

/// What decides whether a test can run.
struct IgtMachine {
    bool gfx_ring = false;  ///< of the GPU
    unsigned long memory_mib = 0;
};

/// A test and under what conditions its result is one.
struct IgtRequest {
    /// What the GPU's GFX ring is to it. Some GPUs, as MI300X, have none.
    enum class Gfx {
        any,    ///< nothing
        asked,  ///< IGT looks for one, and skips the test without
        blind,  ///< IGT does not look: without, the test fails or tests nothing, and is not run
    };

    std::string name;  ///< BINARY@SUBTEST, as in `amdgpu/amd_basic@memory-alloc`; * for all
    Gfx gfx = Gfx::any;
    unsigned long memory_mib = 0;       ///< with less, the test is not run
    std::vector<std::string> may_skip;  ///< a skip is right if its reason contains one of these
    std::vector<std::string> never;     ///< the output of a test that passed contains none of these
    std::vector<std::string> shows;     ///< ... and contains these

    /// Why it is not run on `machine`; empty: it is.
    std::string obstacle(const IgtMachine& machine) const;
};

/// `NAME|gfx|blind-gfx|memory=MIB|may-skip=TEXT|never=TEXT|shows=TEXT`: a name and any number of
/// the others. The error says what is wrong with the text.
tl::expected<IgtRequest, std::string> parse_igt_request(std::string_view text);

/// For igt_runner's --test-list. A request without any test that runs gives an empty text.
std::string igt_test_list(const std::vector<IgtRequest>& requests, const IgtMachine& machine);

/// Kernel messages without what differs from time to time: numbers.
using MessageShapes = std::set<std::string>;

/// The messages of level warning and above in `records` of /dev/kmsg, up to the one with which the
/// guest's init says that its modules are loaded. None without that one: the log has lost its
/// beginning, or goes on to what is to be judged.
MessageShapes boot_warnings(const std::vector<std::string>& records);

struct IgtVerdict {
    enum class Outcome { pass, fail, skip };

    std::string name;
    Outcome outcome = Outcome::fail;
    std::string reason;   ///< in few words; empty: passed
    std::string details;  ///< of a failure: what IGT and the kernel said, in lines
};

/// In the order of the requests, each subtest of its own. `results` is the results.json of
/// igt_runner. Beside the `usual` messages those are no failure that no driver makes: IGT's own,
/// and what tracefs and the PCI core say whatever is done to the GPU.
std::vector<IgtVerdict> judge_igt(const nlohmann::json& results,
                                  const std::vector<IgtRequest>& requests,
                                  const IgtMachine& machine, const MessageShapes& usual);

std::string format_ktap(const std::vector<IgtVerdict>& verdicts);

}  // namespace hp::clients
