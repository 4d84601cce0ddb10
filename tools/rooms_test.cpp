// SPDX-License-Identifier: GPL-2.0
// Purpose: holds the includes of tools/ to rooms.txt, and rooms.txt to the includes.
// Thread: one. Does not model: includes of system headers; calls without an include.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// From folder to folder; `test`: of *_test.cpp files only.
struct Arrow {
    std::string from;
    std::string to;
    bool test = false;

    auto operator<=>(const Arrow&) const = default;
};

struct Table {
    std::vector<std::string> rooms;  ///< lowest first
    std::set<Arrow> arrows;

    bool allows(const Arrow& arrow) const {
        return arrows.contains(arrow) || arrows.contains({arrow.from, arrow.to, false});
    }
    std::optional<size_t> floor(const std::string& room) const {
        const auto found = std::find(rooms.begin(), rooms.end(), room);
        return found == rooms.end() ? std::nullopt : std::optional<size_t>(found - rooms.begin());
    }
};

Table read_table(std::istream& text) {
    Table table;
    for (std::string line; std::getline(text, line);) {
        if (line.empty() || line.front() == '#') {
            continue;
        }
        std::istringstream words(line);
        std::string room, word;
        words >> room;
        room.pop_back();  // the colon
        table.rooms.push_back(room);
        bool test = false;
        while (words >> word) {
            if (word == "tests:") {
                test = true;
            } else {
                table.arrows.insert({room, word, test});
            }
        }
    }
    return table;
}

Table read_table(const fs::path& file) {
    std::ifstream text(file);
    EXPECT_TRUE(text) << file;
    return read_table(text);
}

/// Each arrow with the first file that needs it.
std::map<Arrow, std::string> arrows_of(const fs::path& tools, const std::string& file) {
    std::map<Arrow, std::string> arrows;
    std::ifstream code(tools / file);
    const std::string from = fs::path(file).parent_path().string();
    const bool test = file.ends_with("_test.cpp");
    constexpr std::string_view begin = "#include \"";
    for (std::string line; std::getline(code, line);) {
        if (!line.starts_with(begin)) {
            continue;
        }
        const std::string header = line.substr(begin.size(), line.rfind('"') - begin.size());
        const std::string to = fs::path(header).parent_path().string();
        if (to != from && fs::exists(tools / header)) {
            arrows.emplace(Arrow{from, to, test}, file + " includes " + header);
        }
    }
    return arrows;
}

std::map<Arrow, std::string> arrows_of_tree(const fs::path& tools) {
    std::map<Arrow, std::string> arrows;
    for (const char* house : {"lib", "gpu-emu", "hotplug", "gpupool"}) {
        for (const auto& entry : fs::recursive_directory_iterator(tools / house)) {
            const std::string kind = entry.path().extension().string();
            if (kind == ".cpp" || kind == ".h") {
                arrows.merge(arrows_of(tools, fs::relative(entry.path(), tools).string()));
            }
        }
    }
    return arrows;
}

const fs::path tools_folder = HP_TOOLS_FOLDER;

TEST(Rooms, IncludesFollowTheTable) {
    const Table table = read_table(tools_folder / "rooms.txt");
    for (const auto& [arrow, where] : arrows_of_tree(tools_folder)) {
        EXPECT_TRUE(table.allows(arrow)) << where << ", which rooms.txt does not allow";
    }
}

TEST(Rooms, EachArrowOfTheTableIsNeeded) {
    const auto arrows = arrows_of_tree(tools_folder);
    for (const Arrow& arrow : read_table(tools_folder / "rooms.txt").arrows) {
        EXPECT_TRUE(arrows.contains(arrow)) << "no file of " << arrow.from << " includes "
                                            << arrow.to << ": take it out of rooms.txt";
    }
}

TEST(Rooms, NoArrowLeadsUp) {
    const Table table = read_table(tools_folder / "rooms.txt");
    for (const Arrow& arrow : table.arrows) {
        const auto from = table.floor(arrow.from), to = table.floor(arrow.to);
        ASSERT_TRUE(from && to) << arrow.to << " is no room of rooms.txt";
        // What tests share stands above what is tested.
        EXPECT_TRUE(arrow.test || *to < *from) << arrow.from << " -> " << arrow.to << " leads up";
    }
}

TEST(Rooms, AnArrowForTestsIsNoneForOthers) {
    std::istringstream text("low:\nhigh: low\ntop: low tests: high\n");
    const Table table = read_table(text);
    EXPECT_TRUE(table.allows({"top", "high", true}));
    EXPECT_FALSE(table.allows({"top", "high", false}));
    EXPECT_TRUE(table.allows({"top", "low", true}));
    EXPECT_FALSE(table.allows({"low", "high", false}));
}

}  // namespace
