// SPDX-License-Identifier: GPL-2.0
// Purpose: what a trial's output and end make of its row, with programs that stand for the trial.
// Thread: one.
#include "hotplug/run/pool_trial.h"

#include <gtest/gtest.h>

#include <fstream>

#include "lib/temp_tree.h"

namespace hotplug {
namespace {

class PoolTrialTest : public testing::Test {
protected:
    PoolTrialTest() {
        scenario_.id = "pool";
        scenario_.pool = std::chrono::seconds(20);
        machine_.kernel = "/k/bzImage";
        machine_.initrd = "/k/image";
        machine_.memory_mib = 1234;
    }
    RowResult run(const std::string& python) {
        tree_.file("trial.py", "import sys, time\n" + python);
        const PoolTrials trials{tree_.root() / "trial.py", "/d/gpupoold", tree_.root() / "results"};
        return trials.run({&scenario_, &variant_, 0}, machine_);
    }
    /// Why the row fails; empty: it does not.
    std::string failure(const std::string& python) {
        const RowResult result = run(python);
        EXPECT_EQ(result.checks.size(), 1U);
        const CheckResult& check = result.checks.front();
        return check.passed ? "" : check.evidence.front();
    }

    hp::TempTree tree_;
    Scenario scenario_;
    Variant variant_{"swap", {}};
    MachineConfig machine_;
};

TEST_F(PoolTrialTest, ATrialThatPassesHasItsTests) {
    const RowResult result = run("print('TAP version 13\\n1..1\\nok 1 - swap-guest')");
    EXPECT_EQ(result.id, "pool/swap");
    EXPECT_TRUE(result.checks.at(0).passed);
    ASSERT_EQ(result.tests.size(), 1U);
    EXPECT_EQ(result.tests[0].name, "swap-guest");
}

TEST_F(PoolTrialTest, SaysWhyItFails) {
    EXPECT_EQ(failure("print('1..1\\nnot ok 1 - swap-guest # the job was lost'); sys.exit(1)"),
              "swap-guest: the job was lost");
    EXPECT_EQ(failure("print('1..2\\nok 1 - swap-guest')"), "plan: 1 of 2 tests have a result");
    EXPECT_NE(failure("sys.exit(2)").find("exit status 2 and 0 results"), std::string::npos);
    EXPECT_NE(failure("print('1..1\\nok 1 - swap'); sys.exit(1)").find("exit status 1"),
              std::string::npos);
    scenario_.pool = std::chrono::milliseconds(200);
    EXPECT_NE(failure("time.sleep(30)").find("for the trial to end"), std::string::npos);
}

TEST_F(PoolTrialTest, HandsTheTrialWhatItsGuestsAreMadeOf) {
    run("open(sys.argv[4] + '/arguments', 'w').write(' '.join(sys.argv[1:]))");
    const auto folder = tree_.root() / "results/pool/swap";
    std::ifstream in(folder / "arguments");
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(line, "--daemon /d/gpupoold --results " + folder.string() +
                        " --kernel guest=/k/bzImage:/k/image --memory-mib 1234 swap");
}

}  // namespace
}  // namespace hotplug
