// SPDX-License-Identifier: GPL-2.0
// Purpose: that the job's packets do what its steps compute.
// Thread: one.
#include "hotplug/in_guest/clients/pm4_job.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace hp::clients {
namespace {

constexpr JobPlaces places{0x1000, 0x2000, 0x3000};

/// Does what a command processor does with the three packets that a step is made of.
class Interpreter {
public:
    std::map<std::uint64_t, std::uint32_t> memory;

    void run(const std::vector<std::uint32_t>& dwords) {
        for (std::size_t at = 0; at < dwords.size();) {
            const std::uint32_t header = dwords[at];
            const std::uint32_t* body = &dwords[at + 1];
            switch (header >> 8 & 0xff) {
                case 0x1e: atomic(body); break;
                case 0x40: memory[body[3]] = memory.at(body[1]); break;
                default: ASSERT_EQ(header, 0xffff1000) << "not a NOP"; break;
            }
            at += header == 0xffff1000 ? 1 : (header >> 16 & 0x3fff) + 2;
        }
    }

private:
    void atomic(const std::uint32_t* body) {
        std::uint32_t& word = memory.at(body[1]);
        word = body[0] == 0x0f ? word + body[3] : word ^ body[3];
    }
};

TEST(Pm4Job, TheCommandsComputeWhatTheCpuDoes) {
    Interpreter gpu;
    JobState expected = first_job_state();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        gpu.memory[places.state + 4 * i] = expected[i];
    }
    for (std::uint64_t step = 0; step < 3; ++step) {
        std::vector<std::uint32_t> dwords(1024);
        CommandBuffer commands(dwords.data());
        write_job_step(commands, places, step);
        ASSERT_EQ(commands.size(), job_step_dwords);
        dwords.resize(commands.size());
        gpu.run(dwords);
        expected = job_step(expected, step);
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(gpu.memory[places.result + 4 * i], expected[i]);
        EXPECT_EQ(gpu.memory[places.state + 4 * i], expected[i]);
    }
}

TEST(Pm4Job, AStepThatIsMissingOrDoneTwiceShows) {
    const JobState once = job_step(first_job_state(), 0);
    EXPECT_NE(once, first_job_state());
    EXPECT_NE(job_step(once, 0), job_step(once, 1));
    EXPECT_NE(job_step(job_step(first_job_state(), 1), 0), job_step(once, 1));
}

}  // namespace
}  // namespace hp::clients
