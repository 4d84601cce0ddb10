// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of /etc/gpupool.json: what it makes, what it changes, and what is said of slips.
// Thread: the test's.
#include "gpupool/daemon/configuration.h"

#include <gtest/gtest.h>

#include "gpupool/driver/fake_driver.h"

namespace gpupool {
namespace {

constexpr const char* whole = R"({
    // the pool of this machine
    "pools": {"mi": {"profile": "mi300x", "spares": 1}},
    "gpus": [{"pool": "mi", "serial": "0xe01"}, {"pool": "mi", "serial": "3586"}],
    "vms": {"train": {"gpus": 2, "owner": 1000, "definition": {"kernel": "/boot/vmlinuz"}}}
})";

class ConfigurationTest : public testing::Test {
protected:
    std::string fault(const std::string& text) {
        const auto read = parse_configuration(text, "f");
        if (!read) {
            return read.error().message;
        }
        Books draft = books;
        const auto applied = apply(*read, driver, draft);
        return applied ? "none" : applied.error().message;
    }
    void take(const std::string& text) {
        const auto read = parse_configuration(text, "f");
        ASSERT_TRUE(read) << read.error().message;
        const auto applied = apply(*read, driver, books);
        ASSERT_TRUE(applied) << applied.error().message;
    }

    FakeDriver driver{"nowhere"};
    Books books;
};

TEST_F(ConfigurationTest, MakesWhatIsMissingOnce) {
    take(whole);
    EXPECT_EQ(books.pools.at("mi").spares, 1U);
    ASSERT_EQ(books.gpus.size(), 2U);
    EXPECT_EQ(books.gpus.at("gpu1").serial, 0xe02U);
    EXPECT_EQ(books.gpus.at("gpu1").state, GpuState::scrubbing) << "settled";
    EXPECT_EQ(books.vms.at("train").owner, 1000U);
    const Books before = books;
    take(whole);
    EXPECT_EQ(books.gpus, before.gpus);
    EXPECT_EQ(books.vms, before.vms);
    EXPECT_EQ(books.events, before.events) << "nothing has happened";
}

TEST_F(ConfigurationTest, ChangesWhatMayBeChanged) {
    take(whole);
    books.vms.at("train").state = VmState::running;
    take(R"({"pools": {"mi": {"profile": "mi300x", "spares": 0, "on_failure": "wait",
                              "give_up_s": 60}},
             "vms": {"train": {"gpus": 4, "definition": {}}}})");
    EXPECT_EQ(books.pools.at("mi").spares, 0U);
    EXPECT_FALSE(books.pools.at("mi").replace);
    EXPECT_EQ(books.pools.at("mi").give_up_s, 60U);
    EXPECT_EQ(books.gpus.size(), 2U) << "what is not named stays";
    EXPECT_EQ(books.vms.at("train").gpus, 2U) << "it runs";
    books.vms.at("train").state = VmState::stopped;
    take(R"({"vms": {"train": {"gpus": 4, "definition": {}}}})");
    EXPECT_EQ(books.vms.at("train").gpus, 4U);
}

TEST_F(ConfigurationTest, SaysWhatIsWrongAndWhere) {
    take(whole);
    EXPECT_EQ(fault("{").substr(0, 4), "f:1:");
    EXPECT_EQ(fault("[]"), "f: /: has to be an object");
    EXPECT_EQ(fault(R"({"pool": {}})"),
              "f: /pool: there is no such member, there are pools, gpus, vms, cluster");
    EXPECT_EQ(fault(R"({"pools": {"a": {}}})"), "f: /pools/a/profile: is missing");
    EXPECT_EQ(fault(R"({"pools": {"a": {"profile": "x", "spares": -1}}})"),
              "f: /pools/a/spares: has to be a number from 0 to 65536");
    EXPECT_EQ(fault(R"({"pools": {"a": {"profile": "x", "on_failure": "cry"}}})"),
              "f: /pools/a/on_failure: is replace or wait");
    EXPECT_EQ(fault(R"({"pools": {"../a": {"profile": "x"}}})"), "'../a' is no name for a pool");
    EXPECT_EQ(fault(R"({"pools": {"mi": {"profile": "navi21"}}})"),
              "pool mi is of mi300x with 0 MiB, and stays so: name another pool");
    EXPECT_EQ(fault(R"({"pools": {"mi": {"profile": "mi300x", "give_up_s": 86401}}})"),
              "f: /pools/mi/give_up_s: has to be a number from 0 to 86400");
    EXPECT_EQ(fault(R"({"cluster": "heartbeat"})"), "f: /cluster: is none or pacemaker");
    EXPECT_EQ(fault(R"({"cluster": "pacemaker"})"), "none");
    EXPECT_EQ(fault(R"({"gpus": {}})"), "f: /gpus: has to be a list");
    EXPECT_EQ(fault(R"({"gpus": [{"pool": "mi", "serial": 7}]})"),
              "f: /gpus/0/serial: has to be a text");
    EXPECT_EQ(fault(R"({"gpus": [{"pool": "no", "serial": "7"}]})"), "there is no pool 'no'");
    EXPECT_EQ(fault(R"({"vms": {"v": {"gpus": 99, "definition": {}}}})"),
              "a vm may have 1 to 31 GPUs");
    EXPECT_EQ(fault(R"({"vms": {"train": {"gpus": 99, "definition": {}}}})"),
              "a vm may have 1 to 31 GPUs")
        << "nor one that is there already";
    EXPECT_EQ(fault(R"({"pools": [{"profile": "mi300x"}]})"), "f: /pools: has to be an object");
    EXPECT_EQ(fault(R"({"vms": null})"), "f: /vms: has to be an object");
    EXPECT_EQ(fault(R"({"vms": {"v": {}}})"), "f: /vms/v/definition: is missing");
}

}  // namespace
}  // namespace gpupool
