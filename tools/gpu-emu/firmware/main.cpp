// SPDX-License-Identifier: GPL-2.0
// Purpose: `amdgpu-emu-firmware OUTDIR`: writes the synthetic firmware files. Exit status: 0 done,
// 1 not, with one line that says why.
// Thread: main.
// Does not model: nothing.
#include <CLI/CLI.hpp>
#include <iostream>
#include <string>

#include "gpu-emu/firmware/firmware_images.h"

int main(int argc, char** argv) {
    CLI::App app{"Writes synthetic firmware files for the guest of an emulated AMD GPU."};
    std::string directory;
    app.add_option("OUTDIR", directory, "where to put them; made if it is not there")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
    }
    if (const auto written = gpuemu::write_firmware_images(directory); !written) {
        std::cerr << "amdgpu-emu-firmware: " << written.error().message << '\n';
        return 1;
    }
    return 0;
}
