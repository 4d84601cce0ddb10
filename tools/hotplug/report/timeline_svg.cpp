// SPDX-License-Identifier: GPL-2.0
// Purpose: see timeline_svg.h.
// Thread: pure functions.
#include "hotplug/report/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "hotplug/report/markup.h"

namespace hotplug {

namespace {

using Span = std::optional<std::chrono::microseconds>;

struct Milestone {
    const char* name;
    Span time;
    const char* style;
};

constexpr int label_width = 190;
constexpr int bar_width = 520;
constexpr int time_width = 110;
constexpr int line_height = 20;

double seconds(const Span& time) {
    return time ? static_cast<double>(time->count()) / 1e6 : 0;
}

std::vector<Milestone> milestones(const Episode& episode) {
    const LossTimeline& loss = episode.loss;
    Span fences;  // the last one's
    for (const FailedFence& fence : episode.fences) {
        fences = std::max(fences.value_or(fence.after), fence.after);
    }
    std::vector<Milestone> all = {{"event announced", loss.announced, "loss"},
                                  {"kernel notified", loss.notified, "loss"},
                                  {"fences signalled", fences, "loss"},
                                  {"clients released", episode.clients_released(), "loss"},
                                  {"removal returned", loss.remove_returned, "loss"},
                                  {"slot empty", loss.device_deleted, "loss"}};
    if (!fences) {  // no client had one that failed
        std::erase_if(
            all, [](const Milestone& m) { return std::string_view(m.name) == "fences signalled"; });
    }
    if (episode.clients.empty()) {
        std::erase_if(
            all, [](const Milestone& m) { return std::string_view(m.name) == "clients released"; });
    }
    if (!empties_slot(loss.loss)) {
        all.pop_back();
    }
    if (episode.replug) {
        const ReplugTimeline& replug = *episode.replug;
        all.insert(all.end(), {{"replug: enumerated", replug.enumerated, "replug"},
                               {"replug: driver bound", replug.driver_bound, "replug"},
                               {"replug: nodes there", replug.ready, "replug"},
                               {"replug: first job done", episode.first_job, "replug"}});
    }
    return all;
}

}  // namespace

std::string timeline_svg(const Episode& episode) {
    const auto all = milestones(episode);
    double longest = 0.1;
    for (const Milestone& milestone : all) {
        longest = std::max(longest, seconds(milestone.time));
    }
    const int height = line_height * static_cast<int>(all.size()) + 4;
    const int width = label_width + bar_width + time_width;
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" "
        "height=\"{}\" role=\"img\">\n"
        "<title>Timeline of {} of {}</title>\n",
        width, height, width, height, to_string(episode.loss.loss),
        escape_markup(episode.loss.bdf));
    for (size_t i = 0; i < all.size(); ++i) {
        const Milestone& milestone = all[i];
        const int top = line_height * static_cast<int>(i);
        const double length = bar_width * seconds(milestone.time) / longest;
        svg += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", top + 15, milestone.name);
        if (milestone.time) {
            svg += fmt::format(
                "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>\n",
                milestone.style, label_width, top + 4, std::max(1.0, length), line_height - 7);
        }
        svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", label_width + length + 6,
                           top + 15,
                           milestone.time ? fmt::format("{:.3f} s", seconds(milestone.time))
                                          : std::string("not seen"));
    }
    return svg + "</svg>\n";
}

}  // namespace hotplug
