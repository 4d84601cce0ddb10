// SPDX-License-Identifier: GPL-2.0
#include "gpu-emu/cli/trace_printer.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "gpu-emu/hostile/mutator.h"
#include "gpu-emu/pci/pci_function.h"
#include "gpu-emu/witness/trace_reader.h"

namespace gpuemu {
namespace {

constexpr size_t registers_in_summary = 20;

bool is_register(const TraceRecord& record) {
    return record.region == static_cast<uint8_t>(Region::bar5);
}

/// Of a mutation.
Surface surface_of(const TraceRecord& record) {
    return static_cast<Surface>(record.flags & 0xff);
}

std::string region_name(uint8_t region) {
    if (region <= static_cast<uint8_t>(Region::bar5)) {
        return fmt::format("bar{}", region);
    }
    if (region == static_cast<uint8_t>(Region::rom)) {
        return "rom";
    }
    return region == static_cast<uint8_t>(Region::config) ? "config" : "-";
}

}  // namespace

TracePrinter::TracePrinter(const TraceHeader& header, Options options, RegisterName register_name,
                           std::ostream& out)
    : start_ns_(header.start_monotonic_ns),
      options_(options),
      register_name_(std::move(register_name)),
      out_(out) {}

void TracePrinter::add(const TraceRecord& record) {
    if (record.kind == TraceKind::mark) {
        label_ += mark_text(record);
        if ((record.flags & mark_continues) != 0) {
            return;
        }
    }
    if (record.kind == TraceKind::vanished) {
        lost_ = true;
    }
    if (lost_ || !options_.after_loss) {
        if (options_.summary) {
            sum(record);
        } else if (options_.json) {
            print_json(record);
        } else {
            print_text(record);
        }
    }
    if (record.kind == TraceKind::restored) {
        lost_ = false;
    }
    if (record.kind == TraceKind::mark) {
        label_.clear();
    }
}

void TracePrinter::finish() {
    if (options_.summary) {
        print_summary();
    }
}

std::string TracePrinter::name_of(const TraceRecord& record) const {
    if (record.kind == TraceKind::mark) {
        return label_;
    }
    return is_register(record) ? register_name_(static_cast<uint32_t>(record.offset / 4))
                               : std::string();
}

/// Since the trace began; a record can be a little older than its file.
double TracePrinter::seconds(uint64_t time_ns) const {
    return static_cast<double>(static_cast<int64_t>(time_ns - start_ns_)) / 1e9;
}

void TracePrinter::print_text(const TraceRecord& record) {
    std::string name = name_of(record);
    if (record.kind == TraceKind::mutation) {
        name =
            fmt::format("{}{}{}", surface_name(surface_of(record)), name.empty() ? "" : " ", name);
    }
    fmt::print(out_, "{:14.6f}  {:<14} {:<6} {:#012x} {:>7} {:#018x} {}\n", seconds(record.time_ns),
               kind_name(record.kind), region_name(record.region),
               record.kind == TraceKind::mark ? 0 : record.offset, record.size,
               record.kind == TraceKind::mark ? 0 : record.value, name);
}

void TracePrinter::print_json(const TraceRecord& record) {
    nlohmann::json line{{"t", seconds(record.time_ns)}, {"kind", kind_name(record.kind)}};
    if (record.kind == TraceKind::mutation) {
        line["surface"] = surface_name(surface_of(record));
        line["offset"] = record.offset;
        line["was"] = record.value >> 32;
        line["is"] = record.value & 0xffffffff;
    } else if (record.kind != TraceKind::mark) {
        line["offset"] = record.offset;
        line["value"] = record.value;
        line["size"] = record.size;
    }
    if (record.region != no_region) {
        line["region"] = record.region;
    }
    if (const std::string name = name_of(record); !name.empty()) {
        line["name"] = name;
    }
    out_ << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

void TracePrinter::sum(const TraceRecord& record) {
    const auto kind = static_cast<size_t>(record.kind);
    if (kind < counts_.size()) {
        ++counts_[kind];
    }
    if (record.kind == TraceKind::dropped) {
        records_lost_ += record.value;
    }
    if (record.kind == TraceKind::forgotten) {
        records_forgotten_ = record.value;
    }
    if (is_register(record) && record.kind != TraceKind::mutation) {
        const std::string name = name_of(record);
        ++registers_[name.empty() ? fmt::format("{:#x}", record.offset / 4) : name];
    }
}

void TracePrinter::print_summary() {
    std::vector<std::pair<std::string, uint64_t>> busiest(registers_.begin(), registers_.end());
    const size_t shown = std::min(busiest.size(), registers_in_summary);
    std::partial_sort(busiest.begin(), busiest.begin() + static_cast<std::ptrdiff_t>(shown),
                      busiest.end(), [](const auto& left, const auto& right) {
                          return left.second != right.second ? left.second > right.second
                                                             : left.first < right.first;
                      });
    busiest.resize(shown);
    if (options_.json) {
        nlohmann::json kinds = nlohmann::json::object();
        for (size_t i = 0; i < counts_.size(); ++i) {
            kinds[std::string(kind_name(static_cast<TraceKind>(i)))] = counts_[i];
        }
        nlohmann::json registers = nlohmann::json::object();
        for (const auto& [name, count] : busiest) {
            registers[name] = count;
        }
        out_ << nlohmann::json{{"records", kinds},
                               {"registers", registers},
                               {"records_lost", records_lost_},
                               {"records_forgotten", records_forgotten_}}
                    .dump()
             << '\n';
        return;
    }
    for (size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] != 0) {
            fmt::print(out_, "{:>10}  {}\n", counts_[i], kind_name(static_cast<TraceKind>(i)));
        }
    }
    if (records_lost_ != 0) {
        fmt::print(out_, "{:>10}  records lost while writing\n", records_lost_);
    }
    if (records_forgotten_ != 0) {
        fmt::print(out_, "{:>10}  earlier records forgotten\n", records_forgotten_);
    }
    fmt::print(out_, "\nbusiest registers\n");
    for (const auto& [name, count] : busiest) {
        fmt::print(out_, "{:>10}  {}\n", count, name);
    }
}

}  // namespace gpuemu
