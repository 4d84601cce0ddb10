// SPDX-License-Identifier: GPL-2.0
// Purpose: the log lines of our programs: `time=... level=info program=amdgpu-emu msg="client
// attached" socket=/run/x`, to standard error, one event a line, fit for grep and for a log
// collector. What comes too often is cut: LogLimiter. Thread: any.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace hp::log {

/// A key and its value; the value is quoted where it has to be.
struct Field {
    template <typename T>
    Field(std::string_view field_key, const T& field_value)
        : key(field_key), value(fmt::format("{}", field_value)) {}

    std::string_view key;
    std::string value;
};
using Fields = std::initializer_list<Field>;

/// Sets up the process's log. `level` is one of trace, debug, info, warning, error, off; throws
/// std::invalid_argument for any other (start-up).
void set_up(const std::string& program, const std::string& level);

void debug(std::string_view event, Fields fields = {});
void info(std::string_view event, Fields fields = {});
void warning(std::string_view event, Fields fields = {});
void error(std::string_view event, Fields fields = {});

/// What a line says after `program=`. For tests and for other sinks.
std::string format_line(std::string_view event, Fields fields);

}  // namespace hp::log
