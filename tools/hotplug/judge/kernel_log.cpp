// SPDX-License-Identifier: GPL-2.0
// Purpose: see kernel_log.h. A report is a block: it starts with a line that match_start() knows,
// or with "cut here", or with a bare "Call Trace:"; it ends with "end trace", with the next report,
// or when the log was silent for a while. Thread: pure functions. Not modelled: two reports printed
// at the same time by two CPUs; the kernel's own locks keep most of them apart.
#include "hotplug/judge/kernel_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

namespace hotplug {

namespace {

constexpr uint64_t block_silence_us = 2'000'000;
constexpr size_t lines_kept = 16;
constexpr size_t frames_kept = 8;
constexpr int level_error = 3;  // KERN_ERR, include/linux/kern_levels.h

struct Start {
    ComplaintKind kind;
    std::string title;
};

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// The name before the first "+0x" of TEXT: how the kernel prints code addresses (%pS).
std::string_view function_in(std::string_view text) {
    const size_t plus = text.find("+0x");
    if (plus == std::string_view::npos) {
        return {};
    }
    size_t begin = plus;
    while (begin > 0 && is_word(text[begin - 1])) {
        --begin;
    }
    return text.substr(begin, plus - begin);
}

/// Titles must not differ from run to run: everything from the first address on is dropped.
std::string without_address(std::string_view text) {
    for (std::string_view mark : {" for address", " at 0x", ": 0x", " 0x", " at ff", ", address"}) {
        text = text.substr(0, text.find(mark));
    }
    return std::string(text);
}

std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
    const size_t begin = text.find(before);
    if (begin == std::string_view::npos) {
        return {};
    }
    text.remove_prefix(begin + before.size());
    return text.substr(0, text.find(after));
}

std::string in_function(std::string_view what, std::string_view text) {
    const std::string_view function = function_in(text);
    return function.empty() ? std::string(what) : fmt::format("{} in {}", what, function);
}

/// "BUG: KASAN: slab-use-after-free in f+0x1/0x2" is titled "KASAN: slab-use-after-free in f".
std::string sanitizer_title(std::string_view text) {
    text.remove_prefix(std::string_view("BUG: ").size());
    return in_function(text.substr(0, text.find(" in ")), text);
}

std::optional<Start> match_bug(std::string_view text) {
    if (text.starts_with("BUG: KASAN:")) {
        return Start{ComplaintKind::kasan, sanitizer_title(text)};
    }
    if (text.starts_with("BUG: KFENCE:")) {
        return Start{ComplaintKind::kfence, sanitizer_title(text)};
    }
    if (text.find("BUG: soft lockup") != std::string_view::npos ||
        text.find("hard LOCKUP") != std::string_view::npos ||
        text.starts_with("BUG: workqueue lockup")) {
        const std::string_view comm = between(text, "[", ":");
        return Start{ComplaintKind::lockup,
                     comm.empty() ? "CPU lockup" : fmt::format("soft lockup: {}", comm)};
    }
    if (text.starts_with("BUG: Invalid wait context") ||
        text.find("lock held when returning") != std::string_view::npos) {
        return Start{ComplaintKind::lockdep, std::string(text)};
    }
    if (text.starts_with("BUG: ")) {
        return Start{ComplaintKind::bug, in_function(without_address(text), text)};
    }
    // mm/slub.c, slab_bug(): "BUG kmalloc-64 (Not tainted): Poison overwritten".
    if (text.starts_with("BUG ")) {
        return Start{ComplaintKind::slub,
                     fmt::format("SLUB: {} in {}", without_address(between(text, "): ", "\n")),
                                 between(text, "BUG ", " "))};
    }
    return std::nullopt;
}

std::optional<Start> match_warning(std::string_view text) {
    if (!text.starts_with("WARNING: ")) {
        return std::nullopt;
    }
    // A WARN_ON names its code address; what lockdep and RCU print after the same word does not.
    if (!function_in(text).empty()) {
        return Start{ComplaintKind::warning, in_function("WARNING", text)};
    }
    return Start{ComplaintKind::lockdep, without_address(text)};
}

std::optional<Start> match_info(std::string_view text) {
    if (text.starts_with("INFO: task ") && text.find(" blocked ") != std::string_view::npos) {
        return Start{ComplaintKind::hung_task,
                     fmt::format("hung task: {}", between(text, "INFO: task ", ":"))};
    }
    if (text.find("INFO: rcu") != std::string_view::npos &&
        text.find("stall") != std::string_view::npos) {
        return Start{ComplaintKind::rcu_stall, "RCU stall"};
    }
    if (text.starts_with("INFO: trying to register non-static key")) {
        return Start{ComplaintKind::lockdep, std::string(text)};
    }
    return std::nullopt;
}

std::optional<Start> match_corruption(std::string_view text) {
    if (text.starts_with("list_add ") || text.starts_with("list_del ") ||
        text.starts_with("list_add corruption") || text.starts_with("list_del corruption")) {
        const bool adding = text.starts_with("list_add");
        return Start{ComplaintKind::list_corruption,
                     adding ? "list_add corruption" : "list_del corruption"};
    }
    if (text.starts_with("refcount_t: ")) {
        return Start{ComplaintKind::refcount, std::string(text)};
    }
    if (text.starts_with("UBSAN: ")) {
        return Start{ComplaintKind::ubsan, std::string(text.substr(0, text.find(" in ")))};
    }
    return std::nullopt;
}

std::optional<Start> match_fatal(std::string_view text) {
    if (text.starts_with("Kernel panic")) {
        return Start{ComplaintKind::panic, std::string(text)};
    }
    if (text.starts_with("kernel BUG at ")) {
        return Start{ComplaintKind::bug, "kernel BUG"};
    }
    if (text.starts_with("Oops") || text.starts_with("general protection fault")) {
        return Start{ComplaintKind::bug, std::string(text.substr(0, text.find_first_of(":,")))};
    }
    return std::nullopt;
}

/// kmemleak's summary line (mm/kmemleak.c, kmemleak_scan()).
std::optional<Start> match_kmemleak(std::string_view text) {
    if (text.starts_with("kmemleak: ") && text.find("suspected memory leak") != text.npos) {
        return Start{ComplaintKind::kmemleak, "kmemleak: suspected memory leaks"};
    }
    return std::nullopt;
}

/// lockdep frames some of its titles: "[ BUG: Invalid wait context ]".
std::string_view without_frame(std::string_view text) {
    if (text.starts_with("[ ") && text.ends_with(" ]")) {
        text.remove_prefix(2);
        text.remove_suffix(2);
    }
    return text;
}

std::optional<Start> match_start(std::string_view text) {
    text = without_frame(text);
    for (auto* match :
         {match_bug, match_warning, match_info, match_corruption, match_fatal, match_kmemleak}) {
        if (auto start = match(text)) {
            return start;
        }
    }
    if (text.starts_with(log_gap_line)) {
        return Start{ComplaintKind::log_gap, std::string(log_gap_line)};
    }
    if (text.starts_with("irq ") && text.find("nobody cared") != std::string_view::npos) {
        return Start{ComplaintKind::bug, "irq: nobody cared"};
    }
    return std::nullopt;
}

/// Lines that say where the kernel was, not what was wrong; they stand between a message and its
/// "Call Trace:".
bool is_context(std::string_view text) {
    constexpr std::array<std::string_view, 7> prefixes = {
        "CPU: ",     "Tainted: ", "Hardware name", "Workqueue: ", "Modules linked in",
        "Sched_ext", "task:"};
    return text.empty() || std::any_of(prefixes.begin(), prefixes.end(),
                                       [&](auto prefix) { return text.starts_with(prefix); });
}

/// A reliable frame: one space, a function, its offset. "? f+0x1" is a guess of the unwinder.
std::string_view frame_in(std::string_view text) {
    if (!text.starts_with(' ') || text.find('?') != std::string_view::npos) {
        return {};
    }
    return function_in(text);
}

class Classifier {
public:
    void feed(const KernelLine& record) {
        if (block_ && record.time_us - last_us_ > block_silence_us) {
            close();
        }
        const std::string_view text = record.text;
        if (text.find("[ cut here ]") != std::string_view::npos) {
            close();
            open(record, {ComplaintKind::trace, {}});
            head_open_ = true;
        } else if (text.starts_with("---[ end trace")) {
            close();
        } else if (auto start = match_start(text)) {
            begin_or_refine(record, std::move(*start));
        } else if (block_) {
            absorb(record);
        } else if (text.starts_with("Call Trace:")) {
            open(record, {ComplaintKind::trace, without_address(headline_)});
        } else if (record.level <= level_error || text.find("*ERROR*") != std::string_view::npos) {
            note(record);
        }
        if (!block_ && !is_context(text)) {
            headline_ = text;
        }
    }

    KernelLogSummary finish() {
        close();
        return std::move(summary_);
    }

private:
    void open(const KernelLine& record, Start start) {
        block_ = Complaint{start.kind, std::move(start.title), record.time_us, 1, {}, {}};
        remark_.clear();
        module_frame_.clear();
        first_stack_over_ = false;
        head_open_ = false;
        keep(record);
    }

    /// One report may have several first lines: "cut here", a message, "WARNING: ... at f"; or
    /// "BUG: ...", "Oops: ...". Any other start line is a report of its own, whether or not the
    /// one before had a stack.
    bool belongs_to_block(const Start& start) const {
        if (!block_ || !block_->stack.empty()) {
            return false;
        }
        const bool oops = start.kind == ComplaintKind::bug &&
                          (start.title.starts_with("Oops") || start.title.starts_with("general"));
        return head_open_ || (oops && block_->kind == ComplaintKind::bug);
    }

    /// Of the start lines of one report the more specific kind wins.
    void begin_or_refine(const KernelLine& record, Start start) {
        if (!belongs_to_block(start)) {
            close();
            open(record, std::move(start));
            return;
        }
        head_open_ =
            head_open_ && start.kind != ComplaintKind::warning && start.kind != ComplaintKind::bug;
        if (block_->title.empty() || start.kind > block_->kind) {
            block_->kind = start.kind;
            block_->title = std::move(start.title);
        }
        keep(record);
    }

    void absorb(const KernelLine& record) {
        const std::string_view text = record.text;
        if (block_->title.empty() && text.starts_with("DMA-API: ")) {
            block_->kind = ComplaintKind::dma_api;
            block_->title = dma_api_title(text);
        } else if (block_->title.empty() && !is_context(text)) {
            remark_ = without_address(text);
        }
        if (text.starts_with("RIP: ") && block_->kind == ComplaintKind::bug &&
            block_->title.find(" in ") == std::string::npos) {
            block_->title = in_function(block_->title, text);
        }
        keep_frame(text);
        keep(record);
    }

    /// "DMA-API: amdgpu 0000:01:00.0: device driver tries to ... [address=0x...]": without the
    /// device, without values.
    static std::string dma_api_title(std::string_view text) {
        const size_t message = text.find(": ", std::string_view("DMA-API: ").size());
        if (message != std::string_view::npos) {
            text.remove_prefix(message + 2);
        }
        return fmt::format("DMA-API: {}", without_address(text.substr(0, text.find(" ["))));
    }

    void keep(const KernelLine& record) {
        last_us_ = record.time_us;
        if (block_->lines.size() < lines_kept) {
            block_->lines.push_back(format_record(record.time_us, record.text));
        }
    }

    void keep_frame(std::string_view text) {
        first_stack_over_ = first_stack_over_ || text.find("</TASK>") != std::string_view::npos;
        const std::string_view frame = frame_in(text);
        if (frame.empty() || first_stack_over_) {
            return;
        }
        if (block_->stack.size() < frames_kept) {
            block_->stack.emplace_back(frame);
        }
        if (module_frame_.empty() && text.ends_with(']')) {
            module_frame_ = frame;
        }
    }

    void close() {
        if (!block_) {
            return;
        }
        if (block_->title.empty()) {
            block_->title = remark_.empty() ? "stack trace" : remark_;
        } else if (!remark_.empty()) {
            block_->title += ": " + remark_;
        }
        // The innermost function is often a helper (a spin lock, kernfs): the driver's first frame
        // tells two reports apart.
        if (!module_frame_.empty() && block_->title.find(module_frame_) == std::string::npos) {
            block_->title += " from " + module_frame_;
        }
        auto& all = summary_.complaints;
        const auto same = std::find_if(all.begin(), all.end(), [&](const Complaint& other) {
            return other.title == block_->title;
        });
        if (same != all.end()) {
            ++same->count;
        } else {
            all.push_back(std::move(*block_));
        }
        block_.reset();
    }

    void note(const KernelLine& record) {
        auto& all = summary_.notes;
        const auto same = std::find_if(all.begin(), all.end(), [&](const KernelNote& other) {
            return other.text == record.text;
        });
        if (same != all.end()) {
            ++same->count;
        } else {
            all.push_back({record.text, record.time_us, 1});
        }
    }

    KernelLogSummary summary_;
    std::optional<Complaint> block_;
    bool head_open_ = false;    // after "cut here", until the line that says where it was
    std::string remark_;        // free text after "cut here"
    std::string headline_;      // the last message outside of any report
    std::string module_frame_;  // the first frame of a module in the open block
    bool first_stack_over_ = false;
    uint64_t last_us_ = 0;
};

}  // namespace

std::string_view to_string(ComplaintKind kind) {
    switch (kind) {
        case ComplaintKind::trace: return "trace";
        case ComplaintKind::warning: return "warning";
        case ComplaintKind::bug: return "bug";
        case ComplaintKind::lockdep: return "lockdep";
        case ComplaintKind::refcount: return "refcount";
        case ComplaintKind::list_corruption: return "list corruption";
        case ComplaintKind::dma_api: return "DMA-API";
        case ComplaintKind::slub: return "SLUB";
        case ComplaintKind::ubsan: return "UBSAN";
        case ComplaintKind::kfence: return "KFENCE";
        case ComplaintKind::kasan: return "KASAN";
        case ComplaintKind::hung_task: return "hung task";
        case ComplaintKind::lockup: return "lockup";
        case ComplaintKind::rcu_stall: return "RCU stall";
        case ComplaintKind::log_gap: return "log gap";
        case ComplaintKind::kmemleak: return "kmemleak";
        case ComplaintKind::panic: return "panic";
    }
    return "unknown";
}

bool is_fatal(ComplaintKind kind) {
    return kind == ComplaintKind::bug || kind == ComplaintKind::panic;
}

KernelLogSummary classify(std::span<const KernelLine> records) {
    Classifier classifier;
    for (const KernelLine& record : records) {
        classifier.feed(record);
    }
    return classifier.finish();
}

std::string format_record(uint64_t time_us, std::string_view text) {
    return fmt::format("[{:5}.{:06}] {}", time_us / 1'000'000, time_us % 1'000'000, text);
}

}  // namespace hotplug
