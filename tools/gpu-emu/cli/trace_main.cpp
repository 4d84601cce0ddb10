// SPDX-License-Identifier: GPL-2.0
// Purpose: amdgpu-emu-trace, which prints what `amdgpu-emu --trace` wrote.
// Thread: one.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "gpu-emu/board/gpu.h"
#include "gpu-emu/cli/trace_printer.h"
#include "gpu-emu/profiles/profile.h"
#include "gpu-emu/witness/trace_reader.h"

int main(int argc, char** argv) {
    std::string path;
    gpuemu::TracePrinter::Options options;
    CLI::App app("Prints the access trace of an emulated GPU", "amdgpu-emu-trace");
    app.add_option("file", path, "the trace")->required();
    app.add_flag("--summary", options.summary, "print sums by kind and the busiest registers");
    app.add_flag("--after-loss", options.after_loss,
                 "print only accesses while the device was gone");
    app.add_flag("--json", options.json, "JSON lines");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
    }

    auto reader = gpuemu::TraceReader::open(path);
    if (!reader) {
        std::cerr << "amdgpu-emu-trace: " << reader.error().message << "\n";
        return 1;
    }
    const gpuemu::Profile* profile = gpuemu::find_profile(reader->profile());
    const auto register_name = [profile](uint32_t dword) {
        return profile != nullptr ? gpuemu::Gpu::register_name(*profile, dword) : std::string();
    };
    gpuemu::TracePrinter printer(reader->header(), options, register_name, std::cout);
    while (const auto record = reader->next()) {
        printer.add(*record);
    }
    printer.finish();
    if (reader->truncated()) {
        std::cerr << "amdgpu-emu-trace: " << path << " ends within a record\n";
    }
    return std::cout.flush() ? 0 : 1;
}
