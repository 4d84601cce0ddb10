// SPDX-License-Identifier: GPL-2.0
// Purpose: the kernel log, record by record, from /dev/kmsg (Documentation/ABI/testing/dev-kmsg of
// the kernel). Thread: not synchronised; the agent's loop owns the reader.
#include "hotplug/in_guest/agent/kmsg.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

namespace hp::agent {

namespace {

using nlohmann::json;

constexpr int records_per_read = 64;

/// Takes a number and the separator after it off the front.
std::optional<std::uint64_t> take_number(std::string_view& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end == text.data() + text.size()) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    return value;
}

/// The kernel writes what does not print, and the backslash itself, as \xNN (printk's append_char).
std::string unescape(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned value = 0;
        if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
            const char* digits = text.data() + i + 2;
            const auto [end, error] = std::from_chars(digits, digits + 2, value, 16);
            if (error == std::errc() && end == digits + 2) {
                out += static_cast<char>(value);
                i += 3;
                continue;
            }
        }
        out += text[i];
    }
    return out;
}

}  // namespace

Result<KmsgRecord> parse_kmsg_record(std::string_view raw) {
    std::string_view rest = raw;
    const auto priority = take_number(rest);
    const auto sequence = priority ? take_number(rest) : std::nullopt;
    const auto time_us = sequence ? take_number(rest) : std::nullopt;
    const auto semicolon = rest.find(';');
    if (!time_us || semicolon == std::string_view::npos) {
        return fail("not a record of the kernel log: " + std::string(raw.substr(0, 80)));
    }
    std::string_view text = rest.substr(semicolon + 1);
    text = text.substr(0, text.find('\n'));
    constexpr unsigned level_mask = 7;  // the rest is the syslog facility
    return KmsgRecord{static_cast<unsigned>(*priority) & level_mask, *sequence, *time_us,
                      unescape(text)};
}

std::vector<json> KmsgReader::read() {
    std::vector<json> events;
    std::array<char, 16384> raw;  // PRINTK_MESSAGE_MAX is 2 KiB, escaped at most 8 KiB
    for (int i = 0; i < records_per_read && kmsg_; ++i) {
        const ssize_t n = ::read(kmsg_.get(), raw.data(), raw.size());
        if (n < 0 && (errno == EINTR || errno == EPIPE)) {
            continue;  // EPIPE: records were overwritten; the gap in the sequence tells how many
        }
        if (n < 0 && errno != EAGAIN) {
            events.push_back({{"event", "kmsg_error"}, {"error", std::strerror(errno)}});
            kmsg_.reset();  // said once; a descriptor of -1 is never ready
        }
        if (n <= 0) {
            break;
        }
        const auto record = parse_kmsg_record({raw.data(), static_cast<std::size_t>(n)});
        if (!record) {
            events.push_back({{"event", "kmsg_error"}, {"error", record.error().message}});
            continue;
        }
        if (record->sequence > next_sequence_) {
            events.push_back({{"event", "kmsg_lost"},
                              {"count", record->sequence - next_sequence_},
                              {"time_us", record->time_us}});
        }
        next_sequence_ = record->sequence + 1;
        events.push_back({{"event", "kmsg"},
                          {"level", record->level},
                          {"seq", record->sequence},
                          {"time_us", record->time_us},
                          {"text", record->text}});
    }
    return events;
}

}  // namespace hp::agent
