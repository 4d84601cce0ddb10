// SPDX-License-Identifier: GPL-2.0
// Purpose: holds each client program of this build to what it says of itself: `--describe` has all
// that the harness wants, and `--help` the same arguments. Thread: one.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace hp::clients {
namespace {

using nlohmann::json;

struct Ran {
    int status = -1;
    std::string out;  ///< and what it said on standard error
};

Ran run(const std::string& program, const std::string& arguments) {
    Ran ran;
    std::FILE* pipe = ::popen(("'" + program + "' " + arguments + " 2>&1").c_str(), "r");
    if (pipe == nullptr) {
        ADD_FAILURE() << "cannot run " << program;
        return ran;
    }
    for (int c; (c = std::fgetc(pipe)) != EOF;) {
        ran.out += static_cast<char>(c);
    }
    const int status = ::pclose(pipe);
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
}

std::vector<std::string> programs() {
    std::istringstream list(HP_CLIENT_PROGRAMS);
    std::vector<std::string> all;
    for (std::string program; std::getline(list, program, ':');) {
        all.push_back(program);
    }
    return all;
}

class ProgramsTest : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        const Ran ran = run(GetParam(), "--describe");
        ASSERT_EQ(ran.status, 0) << ran.out;
        said_ = json::parse(ran.out, nullptr, false);
        ASSERT_TRUE(said_.is_object()) << ran.out;
        ASSERT_EQ(ran.out.find('\n'), ran.out.size() - 1) << "one line";
    }

    json said_;
};

void expect_text(const json& object, const char* member) {
    ASSERT_TRUE(object.contains(member) && object.at(member).is_string()) << member << object;
    EXPECT_FALSE(object.at(member).get<std::string>().empty()) << member << object;
}

TEST_P(ProgramsTest, DescribesItself) {
    const std::set<std::string> members = {"name",      "purpose", "gpu",  "worker",
                                           "arguments", "states",  "needs"};
    for (const auto& [member, value] : said_.items()) {
        EXPECT_TRUE(members.contains(member)) << member;
    }
    EXPECT_EQ(said_.size(), members.size());
    EXPECT_EQ(said_.at("name"), std::filesystem::path(GetParam()).filename().string());
    expect_text(said_, "purpose");
    EXPECT_FALSE(said_.at("purpose").get<std::string>().ends_with('.'));
    EXPECT_TRUE(said_.at("worker").is_boolean());
    const std::set<std::string> ways = {"none", "node", "gpu_id"};
    EXPECT_TRUE(ways.contains(said_.at("gpu"))) << said_.at("gpu");
    for (const json& state : said_.at("states")) {
        expect_text(state, "state");
        expect_text(state, "says");
    }
    for (const json& need : said_.at("needs")) {
        EXPECT_TRUE(need.is_string());
    }
}

TEST_P(ProgramsTest, EachArgumentSaysWhatItIsAndInWhatUnit) {
    // What CLI11 calls a value that nobody has named.
    const std::set<std::string> unnamed = {"", "INT", "UINT", "FLOAT", "TEXT", "BOOLEAN"};
    for (const json& argument : said_.at("arguments")) {
        expect_text(argument, "name");
        expect_text(argument, "about");
        EXPECT_TRUE(argument.at("required").is_boolean()) << argument;
        if (argument.contains("value")) {
            const std::string value = argument.at("value");
            EXPECT_FALSE(unnamed.contains(value.substr(0, value.find(':')))) << argument;
        }
    }
    const bool takes_node = said_.at("gpu") == "node";
    const json& arguments = said_.at("arguments");
    EXPECT_TRUE(!takes_node || (!arguments.empty() && arguments[0].at("name") == "node"))
        << "the harness puts the node first";
}

TEST_P(ProgramsTest, HelpHasTheSameArguments) {
    const Ran ran = run(GetParam(), "--help");
    ASSERT_EQ(ran.status, 0) << ran.out;
    EXPECT_NE(ran.out.find(said_.at("purpose").get<std::string>()), std::string::npos) << ran.out;
    std::set<std::string> shown;
    // Two blanks, or more in a group: "  node NODE REQUIRED", "  --count UINT", "  -h,--help".
    const std::regex argument(R"(^ {2,4}(?:-\w,)?(--[a-z-]+|[a-z]+)\b.*)");
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
        std::smatch found;
        if (std::regex_match(line, found, argument)) {
            shown.insert(found[1]);
        }
    }
    std::set<std::string> described = {"--help", "--describe"};
    for (const json& one : said_.at("arguments")) {
        described.insert(one.at("name").get<std::string>());
    }
    EXPECT_EQ(shown, described) << ran.out;
}

TEST_P(ProgramsTest, AWrongCommandLineIsOneLineAndStatus2) {
    const Ran ran = run(GetParam(), "--no-such-option");
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(ran.out.find('\n'), ran.out.size() - 1) << ran.out;
    EXPECT_TRUE(ran.out.starts_with(said_.at("name").get<std::string>() + ": ")) << ran.out;
}

INSTANTIATE_TEST_SUITE_P(All, ProgramsTest, testing::ValuesIn(programs()), [](const auto& info) {
    return std::filesystem::path(info.param).filename().string();
});

}  // namespace
}  // namespace hp::clients
