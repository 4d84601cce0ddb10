// SPDX-License-Identifier: GPL-2.0
// Purpose: see log.h.
// Thread: any.
#include "lib/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "lib/log_limiter.h"

namespace hp::log {
namespace {

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (char c : text) {
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
                } else {
                    out += c;
                }
        }
    }
    return out + '"';
}

bool plain(std::string_view text) {
    return !text.empty() && text.find_first_of(" \"\\=\n\t\r") == std::string_view::npos;
}

std::optional<uint64_t> admit(std::string_view event) {
    static std::mutex mutex;
    static LogLimiter limiter;
    const std::lock_guard lock(mutex);
    return limiter.admit(event, LogLimiter::Clock::now());
}

void write(spdlog::level::level_enum level, std::string_view event, Fields fields) {
    if (!spdlog::should_log(level)) {
        return;
    }
    const auto suppressed = admit(event);
    if (!suppressed) {
        return;
    }
    const std::string line = format_line(event, fields);
    if (*suppressed == 0) {
        spdlog::log(level, "{}", line);
    } else {
        spdlog::log(level, "{} suppressed={}", line, *suppressed);
    }
}

}  // namespace

std::string format_line(std::string_view event, Fields fields) {
    std::string line = "msg=" + in_quotes(event);
    for (const Field& field : fields) {
        line += ' ';
        line += field.key;
        line += '=';
        line += plain(field.value) ? field.value : in_quotes(field.value);
    }
    return line;
}

void set_up(const std::string& program, const std::string& level) {
    const auto parsed = spdlog::level::from_str(level);
    if (parsed == spdlog::level::off && level != "off") {
        throw std::invalid_argument("unknown log level '" + level +
                                    "': trace, debug, info, warning, error or off");
    }
    auto logger = std::make_shared<spdlog::logger>(
        program, std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern("time=%Y-%m-%dT%H:%M:%S.%fZ level=%l program=%n %v",
                        spdlog::pattern_time_type::utc);
    logger->set_level(parsed);
    logger->flush_on(spdlog::level::trace);
    spdlog::set_default_logger(std::move(logger));
}

void debug(std::string_view event, Fields fields) {
    write(spdlog::level::debug, event, fields);
}
void info(std::string_view event, Fields fields) {
    write(spdlog::level::info, event, fields);
}
void warning(std::string_view event, Fields fields) {
    write(spdlog::level::warn, event, fields);
}
void error(std::string_view event, Fields fields) {
    write(spdlog::level::err, event, fields);
}

}  // namespace hp::log
