// SPDX-License-Identifier: GPL-2.0
// Purpose: stray_writer, a client whose first job writes to a GPU virtual address where nothing is
// mapped, and whose second one writes to its buffer. The fence of both must signal, for a fault
// without retry loses the write and not the job, and the second write must be seen. Thread: one.
// Not modelled: what the driver says of the fault, which the scenario looks for in the kernel log.
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>

#include "hotplug/in_guest/clients/program.h"
#include "hotplug/in_guest/clients/report.h"
#include "hotplug/in_guest/clients/signals.h"
#include "hotplug/in_guest/clients/submission.h"

namespace hp::clients {
namespace {

const Description self{
    .name = "stray_writer",
    .purpose = "Makes a GPU write to an unmapped address, and then to a mapped one",
};

constexpr std::chrono::seconds patience{60};
constexpr std::uint32_t stray_value = 0x57a75;
constexpr std::uint32_t good_value = 0x900d;

struct Options {
    std::string node;
    std::uint64_t address = 0x300000000;
};

/// Has the job been executed, and what does the buffer hold then?
IoResult<std::uint32_t> write(SmallJob& job, std::uint64_t address, std::uint32_t value) {
    job.write_to(address, value);
    const auto fence = job.submit();
    if (!fence) {
        return tl::unexpected(fence.error());
    }
    const auto executed = wait_fence(job.device(), *fence, patience);
    if (!executed) {
        return tl::unexpected(executed.error());
    }
    return *executed ? IoResult<std::uint32_t>(job.target().dwords()[0])
                     : io_fail("AMDGPU_WAIT_CS", ETIME);
}

int run_client(const Options& options) {
    Reporter report(self);
    auto job = SmallJob::create(options.node);
    if (!job) {
        return report.end("device", job.error());
    }
    report.ready({{"node", options.node}});
    const auto after_stray = write(*job, options.address, stray_value);
    if (!after_stray) {
        return report.end("device", after_stray.error());
    }
    report.done(*after_stray == 0);
    const auto after_good = write(*job, job->target().gpu_address(), good_value);
    if (!after_good) {
        return report.end("device", after_good.error());
    }
    report.done(*after_good == good_value);
    return report.end("done");
}

}  // namespace
}  // namespace hp::clients

int main(int argc, char** argv) {
    hp::clients::Program program(hp::clients::self);
    hp::clients::Options options;
    program.add_node(options.node);
    program.add_option("--address", options.address, "ADDRESS",
                       "GPU virtual address of the stray write");
    if (const auto status = program.parse(argc, argv)) {
        return *status;
    }
    hp::clients::handle_signals();
    return hp::clients::run_client(options);
}
