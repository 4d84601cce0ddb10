// SPDX-License-Identifier: GPL-2.0
// Purpose: see journal_file.h.
// Thread: one at a time.
#include "hotplug/sweep/journal_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "lib/fd.h"

namespace hotplug {

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

std::string one_line(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

hp::Result<std::string> read_lines(const fs::path& file, std::string_view noun) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        return hp::fail(fmt::format("{}: cannot read the results of a {}", file.string(), noun));
    }
    return text.str();
}

}  // namespace

json JournalFile::header() const {
    const json identity = {{"kernel", identity_.kernel},
                           {"profile", identity_.profile},
                           {"cpus", identity_.cpus},
                           {"seed", identity_.seed},
                           {std::string(kind_.amount), identity_.amount}};
    return {{std::string(kind_.name), identity}, {"command", command_}};
}

hp::Result<JournalFile> JournalFile::open(const JournalKind& kind, const fs::path& file,
                                          const JournalIdentity& identity,
                                          const std::vector<std::string>& command,
                                          const Take& take) {
    JournalFile journal(kind, file);
    std::error_code error;
    if (fs::exists(file, error) && fs::file_size(file, error) != 0) {
        if (auto loaded = journal.load(take); !loaded) {
            return tl::unexpected(loaded.error());
        }
        JournalFile wanted(kind, file);
        wanted.identity_ = identity;
        if (!(journal.identity_ == identity)) {
            return hp::fail(fmt::format(
                "{} is of another {} ({}) than this ({}): choose another folder by --results",
                file.string(), kind.noun, one_line(journal.header().at(kind.name)),
                one_line(wanted.header().at(kind.name))));
        }
        journal.command_ = command;
        return journal;
    }
    journal.identity_ = identity;
    journal.command_ = command;
    if (auto written = journal.append(journal.header()); !written) {
        return tl::unexpected(written.error());
    }
    return journal;
}

hp::Result<JournalFile> JournalFile::read(const JournalKind& kind, const fs::path& file,
                                          const Take& take) {
    JournalFile journal(kind, file);
    if (auto loaded = journal.load(take); !loaded) {
        return tl::unexpected(loaded.error());
    }
    return journal;
}

hp::Result<void> JournalFile::adds_up_with(const JournalFile& other) const {
    if (identity_ == other.identity_) {
        return {};
    }
    return hp::fail(fmt::format("{} is of another {} ({}) than {} ({}): they do not add up",
                                file_.string(), kind_.noun, one_line(header().at(kind_.name)),
                                other.file_.string(), one_line(other.header().at(kind_.name))));
}

hp::Result<void> JournalFile::load(const Take& take) {
    auto read = read_lines(file_, kind_.noun);
    if (!read) {
        return tl::unexpected(read.error());
    }
    std::string& text = *read;
    if (const size_t end = text.rfind('\n') + 1; end != text.size()) {
        // The harness was killed while it wrote.
        text.resize(end);
        std::error_code error;
        fs::resize_file(file_, end, error);
        if (error) {
            return hp::fail(fmt::format("{}: {}", file_.string(), error.message()));
        }
    }
    std::istringstream lines(text);
    size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        try {
            const json value = json::parse(line);
            if (number != 1) {
                take(value);
                continue;
            }
            const json& identity = value.at(kind_.name);
            identity_ = {.kernel = identity.at("kernel").get<std::string>(),
                         .profile = identity.at("profile").get<std::string>(),
                         .cpus = identity.at("cpus").get<unsigned>(),
                         .seed = identity.at("seed").get<uint64_t>(),
                         .amount = identity.at(kind_.amount).get<uint64_t>()};
            value.at("command").get_to(command_);
        } catch (const json::exception& error) {
            return hp::fail(fmt::format("{}:{}: not a line of the results of a {}: {}",
                                        file_.string(), number, kind_.noun, error.what()));
        }
    }
    if (number == 0) {
        return hp::fail(fmt::format("{}: it is empty", file_.string()));
    }
    return {};
}

hp::Result<void> JournalFile::append(const json& line) const {
    const auto failed = [&](const char* what) {
        return hp::fail(
            fmt::format("{}: cannot {}: {}", file_.string(), what, std::strerror(errno)));
    };
    const hp::Fd out(::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
                            S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
    if (!out) {
        return failed("open");
    }
    const std::string text = one_line(line) + '\n';
    for (size_t done = 0; done < text.size();) {
        const ssize_t n = ::write(out.get(), text.data() + done, text.size() - done);
        if (n < 0 && errno != EINTR) {
            return failed("write");
        }
        done += n > 0 ? static_cast<size_t>(n) : 0;
    }
    return ::fsync(out.get()) == 0 ? hp::Result<void>() : failed("write");
}

json to_json(const std::vector<Finding>& failures) {
    json list = json::array();
    for (const Finding& failure : failures) {
        list.push_back({{"title", failure.title}, {"stack", failure.stack}});
    }
    return list;
}

std::vector<Finding> read_failures(const json& list) {
    std::vector<Finding> failures;
    for (const json& failure : list) {
        failures.push_back({failure.at("title").get<std::string>(),
                            failure.at("stack").get<std::vector<std::string>>()});
    }
    return failures;
}

}  // namespace hotplug
