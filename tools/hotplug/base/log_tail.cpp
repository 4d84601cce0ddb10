// SPDX-License-Identifier: GPL-2.0
// Purpose: see log_tail.h.
// Thread: pure function.
#include "hotplug/base/log_tail.h"

#include <algorithm>
#include <fstream>

namespace hotplug {

namespace {

constexpr std::streamoff tail_bytes = 4096;

}  // namespace

std::string last_line(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    if (!in) {
        return "";
    }
    in.seekg(std::max<std::streamoff>(0, in.tellg() - std::streampos(tail_bytes)));
    std::string last;
    for (std::string line; std::getline(in, line);) {
        std::erase_if(line, [](unsigned char c) { return c < ' ' || c == 0x7f; });
        if (line.find_first_not_of(' ') != std::string::npos) {
            last = line;
        }
    }
    return last;
}

}  // namespace hotplug
