// SPDX-License-Identifier: GPL-2.0
// Purpose: a folder for a unit test, made of the files it names, gone at its end.
// Thread: not synchronised; one test owns it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace hp {

class TempTree {
public:
    TempTree() {
        std::string pattern = std::filesystem::temp_directory_path() / "hp-test-XXXXXX";
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw std::runtime_error("cannot make " + pattern);
        }
        root_ = pattern;
    }
    TempTree(const TempTree&) = delete;
    TempTree& operator=(const TempTree&) = delete;
    ~TempTree() {
        std::error_code ignored;  // a leftover in the temporary folder fails no test
        std::filesystem::remove_all(root_, ignored);
    }

    const std::filesystem::path& root() const { return root_; }

    void file(const std::string& path, const std::string& text) {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    void link(const std::string& path, const std::string& target) {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::filesystem::create_symlink(target, root_ / path);
    }

private:
    std::filesystem::path root_;
};

}  // namespace hp
