// SPDX-License-Identifier: GPL-2.0
// Purpose: importer, a client that exports a buffer of a GPU to a device that works on it: the test
// module dma_buf_importer, in the name of the bridge above the GPU, from where peer-to-peer access
// is possible, or with --edu the DMA engine of QEMU's edu below the same switch. Asked after the
// GPU's loss, it tells whether the buffer was taken from the device as it should be: who can be
// told has been told and has stopped, who can't has kept its pages, and nobody can map the buffer
// again. Thread: one. Not modelled: contents of the buffer.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "hotplug/in_guest/clients/drm_device.h"
#include "hotplug/in_guest/clients/line_input.h"
#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "testing/selftests/drivers/gpu/amdgpu_hotplug/test_modules/dma_buf_importer.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "importer",
    .purpose = "Exports a buffer to a device that works on it, and reports later how that ended",
    .states = {{"wrong_memory", "the device reads something else before the loss"},
               {"verified", "what the device has of the buffer after the loss"},
               {"mapped_again", "what a new mapping gives after the loss"}},
    .needs = {"module dma_buf_importer"},
};

constexpr std::uint64_t buffer_size = 1u << 20;

struct Options {
    std::string node;
    std::uint64_t domain = abi::AMDGPU_GEM_DOMAIN_VRAM;
    dma_buf_importer_mode mode = DMA_BUF_IMPORTER_DYNAMIC;
    bool edu = false;
};

/// The PCI address of the bridge that the GPU is below of.
IoResult<std::string> bridge_of(const std::string& node) {
    const std::filesystem::path name = std::filesystem::path(node).filename();
    std::error_code error;
    const auto device = std::filesystem::canonical("/sys/class/drm" / name / "device", error);
    if (error) {
        return io_fail("canonical path of the device", error.value());
    }
    return device.parent_path().filename().string();
}

IoResult<std::string> id_of(const std::filesystem::path& device, const char* which) {
    std::ifstream file(device / which);
    std::string id;
    if (!(file >> id)) {
        return io_fail("PCI ID of a device", EIO);
    }
    return id;
}

/// The PCI address of QEMU's edu.
IoResult<std::string> edu_address() {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/sys/bus/pci/devices", error)) {
        const auto vendor = id_of(entry.path(), "vendor");
        const auto device = id_of(entry.path(), "device");
        if (!vendor || !device) {
            return tl::unexpected(vendor ? device.error() : vendor.error());
        }
        if (*vendor == "0x1234" && *device == "0x11e8") {
            return entry.path().filename().string();
        }
    }
    return io_fail("search for an edu", error ? error.value() : ENODEV);
}

/// The device that works on the buffer.
class ImportingDevice {
public:
    static IoResult<ImportingDevice> attach(const Fd& dma_buf, dma_buf_importer_mode mode,
                                            const std::string& pci_address) {
        Fd fd(::open("/dev/dma_buf_importer", O_RDWR | O_CLOEXEC));
        if (!fd) {
            return io_fail("open of /dev/dma_buf_importer");
        }
        dma_buf_importer_attach request{};
        request.fd = dma_buf.get();
        request.mode = mode;
        if (pci_address.size() >= sizeof request.device) {
            return io_fail("PCI address", EINVAL);
        }
        std::copy(pci_address.begin(), pci_address.end(), request.device);
        return io_call(fd.get(), DMA_BUF_IMPORTER_ATTACH, &request, "DMA_BUF_IMPORTER_ATTACH")
            .map([&] { return ImportingDevice(std::move(fd)); });
    }

    IoResult<void> map() {
        return io_call<void>(fd_.get(), DMA_BUF_IMPORTER_MAP, nullptr, "DMA_BUF_IMPORTER_MAP");
    }
    IoResult<void> unmap() {
        return io_call<void>(fd_.get(), DMA_BUF_IMPORTER_UNMAP, nullptr, "DMA_BUF_IMPORTER_UNMAP");
    }
    IoResult<dma_buf_importer_state> state() {
        dma_buf_importer_state state{};
        return io_call(fd_.get(), DMA_BUF_IMPORTER_STATE, &state, "DMA_BUF_IMPORTER_STATE")
            .map([&] { return state; });
    }

private:
    explicit ImportingDevice(Fd fd) : fd_(std::move(fd)) {}

    Fd fd_;
};

struct Shared {
    DrmDevice device;
    BufferObject buffer;
    Fd dma_buf;
    ImportingDevice importer;
};

IoResult<Shared> share(const Options& options) {
    auto device = DrmDevice::open(options.node);
    if (!device) {
        return tl::unexpected(device.error());
    }
    auto buffer = device->create_buffer(buffer_size, options.domain);
    if (!buffer) {
        return tl::unexpected(buffer.error());
    }
    auto dma_buf = device->export_dma_buf(*buffer);
    if (!dma_buf) {
        return tl::unexpected(dma_buf.error());
    }
    const auto importing = options.edu ? edu_address() : bridge_of(options.node);
    if (!importing) {
        return tl::unexpected(importing.error());
    }
    auto importer = ImportingDevice::attach(*dma_buf, options.mode, *importing);
    if (!importer) {
        return tl::unexpected(importer.error());
    }
    if (const auto mapped = importer->map(); !mapped) {
        return tl::unexpected(mapped.error());
    }
    return Shared{std::move(*device), std::move(*buffer), std::move(*dma_buf),
                  std::move(*importer)};
}

void say_state(Reporter& report, const char* what, const dma_buf_importer_state& state) {
    report.say(what, {{"mapped", state.mapped},
                      {"working", state.working},
                      {"told", state.told},
                      {"pages", state.pages},
                      {"lost_pages", state.lost_pages},
                      {"bus", state.bus},
                      {"accesses", state.accesses}});
}

/// Each thing that has to be so counts as one result, good or bad.
IoResult<void> verify(Reporter& report, Shared& shared, const Options& options) {
    const auto state = shared.importer.state();
    if (!state) {
        return tl::unexpected(state.error());
    }
    say_state(report, "verified", *state);
    report.done(state->lost_pages == 0);
    if (options.mode == DMA_BUF_IMPORTER_STATIC) {
        report.done(state->mapped == 1);
    } else {
        report.done(state->told > 0);
        report.done(state->working == 0);
        report.done(state->mapped == 0);
    }
    if (const auto unmapped = shared.importer.unmap(); !unmapped) {
        return unmapped;
    }
    const auto again = shared.importer.map();
    report.say("mapped_again", {{"errno", again ? 0 : again.error().error}});
    report.done(!again && again.error().error == ENODEV);
    return {};
}

int run_client(const Options& options) {
    Reporter report(self);
    auto shared = share(options);
    if (!shared) {
        return report.end("device", shared.error());
    }
    const auto state = shared->importer.state();
    if (!state) {
        return report.end("system", state.error());
    }
    const bool wants_bus = options.domain == abi::AMDGPU_GEM_DOMAIN_VRAM;
    if (state->accesses == 0 || (state->bus != 0) != wants_bus) {
        say_state(report, "wrong_memory", *state);
        return report.end("wrong memory");
    }
    say_state(report, "ready", *state);
    LineInput input;
    if (!input.next()) {
        return report.end("signal");
    }
    if (const auto verified = verify(report, *shared, options); !verified) {
        return report.end("system", verified.error());
    }
    return report.end("done");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    using namespace hp::clients;
    Program program(self);
    Options options;
    program.add_node(options.node);
    program.add_choice<std::uint64_t>(
        "--domain", options.domain, "DOMAIN", "vram or gtt: where the buffer is",
        {{"vram", abi::AMDGPU_GEM_DOMAIN_VRAM}, {"gtt", abi::AMDGPU_GEM_DOMAIN_GTT}});
    program.add_choice<dma_buf_importer_mode>("--mode", options.mode, "MODE",
                                              "what kind of importer the device is",
                                              {{"dynamic", DMA_BUF_IMPORTER_DYNAMIC},
                                               {"late", DMA_BUF_IMPORTER_LATE},
                                               {"pinned", DMA_BUF_IMPORTER_PINNED},
                                               {"static", DMA_BUF_IMPORTER_STATIC}});
    program.add_flag("--edu", options.edu, "QEMU's edu makes the accesses");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    handle_signals();
    return run_client(options);
}
