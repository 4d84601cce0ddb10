// SPDX-License-Identifier: GPL-2.0
// Purpose: see sweep_journal.h. A file is one line {"sweep": ...}, then lines with "count",
// "left_out" or "point".
// Thread: one at a time.
#include "hotplug/sweep/sweep_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lib/fd.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

json to_json(const SweepIdentity& identity) {
    return {{"kernel", identity.kernel},
            {"profile", identity.profile},
            {"cpus", identity.cpus},
            {"seed", identity.seed},
            {"points", identity.points}};
}

SweepIdentity read_identity(const json& value) {
    return {.kernel = value.at("kernel").get<std::string>(),
            .profile = value.at("profile").get<std::string>(),
            .cpus = value.at("cpus").get<unsigned>(),
            .seed = value.at("seed").get<uint64_t>(),
            .points = value.at("points").get<uint64_t>()};
}

json to_json(const SweepPoint& point) {
    json failures = json::array();
    for (const Finding& failure : point.failures) {
        failures.push_back({{"title", failure.title}, {"stack", failure.stack}});
    }
    return {{"phase", point.phase},
            {"access", point.access},
            {"accesses", point.accesses},
            {"at", point.at},
            {"digest", point.digest},
            {"cpu_digest", point.cpu_digest},
            {"late", point.late ? json(*point.late) : json(nullptr)},
            {"passed", point.passed},
            {"failures", failures},
            {"seconds", point.seconds}};
}

SweepPoint read_point(const json& value) {
    SweepPoint point;
    value.at("phase").get_to(point.phase);
    value.at("access").get_to(point.access);
    value.at("accesses").get_to(point.accesses);
    value.at("at").get_to(point.at);
    value.at("digest").get_to(point.digest);
    value.at("cpu_digest").get_to(point.cpu_digest);
    if (const auto late = value.find("late"); late != value.end() && !late->is_null()) {
        point.late = late->get<uint64_t>();
    }
    value.at("passed").get_to(point.passed);
    value.at("seconds").get_to(point.seconds);
    for (const json& failure : value.at("failures")) {
        point.failures.push_back({failure.at("title").get<std::string>(),
                                  failure.at("stack").get<std::vector<std::string>>()});
    }
    return point;
}

std::string one_line(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

hp::Result<std::string> read_lines(const fs::path& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        return hp::fail(fmt::format("{}: cannot read the results of a sweep", file.string()));
    }
    return text.str();
}

}  // namespace

SweepPoint point_of(const RowResult& row, const std::string& phase, uint64_t access) {
    SweepPoint point;
    point.phase = phase;
    point.access = access;
    if (!row.episodes.empty() && row.episodes.back().loss.vanishing) {
        const Vanishing& vanishing = *row.episodes.back().loss.vanishing;
        point.accesses = vanishing.accesses;
        point.at = vanishing.at;
        point.digest = vanishing.digest;
        point.cpu_digest = vanishing.cpu_digest;
    }
    for (const Episode& episode : row.episodes) {
        point.late = point.late.value_or(0) + episode.accesses.server + episode.accesses.black_hole;
    }
    point.passed = row.outcome == Outcome::pass;
    point.failures = findings_of(row);
    return point;
}

hp::Result<SweepJournal> SweepJournal::open(const fs::path& file, const SweepIdentity& identity,
                                            const std::vector<std::string>& command) {
    SweepJournal journal;
    std::error_code error;
    if (fs::exists(file, error) && fs::file_size(file, error) != 0) {
        if (auto loaded = journal.load(file); !loaded) {
            return tl::unexpected(loaded.error());
        }
        if (!(journal.identity_ == identity)) {
            return hp::fail(fmt::format(
                "{} is of another sweep ({}) than this ({}): choose another folder by --results",
                file.string(), one_line(to_json(journal.identity_)), one_line(to_json(identity))));
        }
        journal.command_ = command;
        journal.left_out_.clear();
        journal.file_ = file;
        return journal;
    }
    journal.identity_ = identity;
    journal.command_ = command;
    journal.file_ = file;
    json header = {{"sweep", to_json(identity)}, {"command", command}};
    if (auto written = journal.write(one_line(header)); !written) {
        return tl::unexpected(written.error());
    }
    return journal;
}

hp::Result<SweepJournal> SweepJournal::merge(std::span<const fs::path> files) {
    SweepJournal merged;
    bool first = true;
    for (const fs::path& file : files) {
        SweepJournal journal;
        if (auto loaded = journal.load(file); !loaded) {
            return tl::unexpected(loaded.error());
        }
        if (first) {
            merged = std::move(journal);
            first = false;
            continue;
        }
        if (!(journal.identity_ == merged.identity_)) {
            return hp::fail(
                fmt::format("{} is of another sweep ({}) than {} ({}): they do not add up",
                            file.string(), one_line(to_json(journal.identity_)),
                            files.front().string(), one_line(to_json(merged.identity_))));
        }
        for (const auto& [phase, accesses] : journal.counts_) {
            uint64_t& most = merged.counts_[phase];
            most = std::max(most, accesses);
        }
        merged.left_out_.insert(journal.left_out_.begin(), journal.left_out_.end());
        for (SweepPoint& point : journal.points_) {
            merged.take(std::move(point));
        }
    }
    return merged;
}

hp::Result<void> SweepJournal::load(const fs::path& file) {
    auto read = read_lines(file);
    if (!read) {
        return tl::unexpected(read.error());
    }
    std::string& text = *read;
    if (const size_t end = text.rfind('\n') + 1; end != text.size()) {
        // The harness was killed while it wrote.
        text.resize(end);
        std::error_code error;
        fs::resize_file(file, end, error);
        if (error) {
            return hp::fail(fmt::format("{}: {}", file.string(), error.message()));
        }
    }
    std::istringstream lines(text);
    size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        try {
            const json value = json::parse(line);
            if (number == 1) {
                identity_ = read_identity(value.at("sweep"));
                value.at("command").get_to(command_);
            } else if (value.contains("count")) {
                value.at("accesses").get_to(counts_[value.at("count").get<std::string>()]);
            } else if (value.contains("left_out")) {
                value.at("reason").get_to(left_out_[value.at("left_out").get<std::string>()]);
            } else {
                take(read_point(value.at("point")));
            }
        } catch (const json::exception& error) {
            return hp::fail(fmt::format("{}:{}: not a line of a sweep's results: {}", file.string(),
                                        number, error.what()));
        }
    }
    if (number == 0) {
        return hp::fail(fmt::format("{}: it is empty", file.string()));
    }
    return {};
}

/// On the disk when it returns: what is known of a kernel that takes the machine down with it
/// counts.
hp::Result<void> SweepJournal::write(const std::string& line) const {
    const auto failed = [&](const char* what) {
        return hp::fail(
            fmt::format("{}: cannot {}: {}", file_.string(), what, std::strerror(errno)));
    };
    const hp::Fd out(::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
                            S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
    if (!out) {
        return failed("open");
    }
    const std::string text = line + '\n';
    for (size_t done = 0; done < text.size();) {
        const ssize_t n = ::write(out.get(), text.data() + done, text.size() - done);
        if (n < 0 && errno != EINTR) {
            return failed("write");
        }
        done += n > 0 ? static_cast<size_t>(n) : 0;
    }
    return ::fsync(out.get()) == 0 ? hp::Result<void>() : failed("write");
}

void SweepJournal::take(SweepPoint point) {
    tried_.insert({point.phase, point.access});
    points_.push_back(std::move(point));
}

hp::Result<void> SweepJournal::add_count(const std::string& phase, uint64_t accesses) {
    counts_[phase] = accesses;
    return write(one_line({{"count", phase}, {"accesses", accesses}}));
}

hp::Result<void> SweepJournal::add_left_out(const std::string& phase, const std::string& reason) {
    left_out_[phase] = reason;
    return write(one_line({{"left_out", phase}, {"reason", reason}}));
}

hp::Result<void> SweepJournal::add(SweepPoint point) {
    auto written = write(one_line({{"point", to_json(point)}}));
    take(std::move(point));
    return written;
}

}  // namespace hotplug
