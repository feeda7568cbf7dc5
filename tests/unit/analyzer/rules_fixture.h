// Each rule with programs that have the fault and programs that look alike and are healthy.
#pragma once

#include <gtest/gtest.h>

#include "tests/unit/analyzer/analyse.h"

namespace lastref::test {

using findings::confidence;
using findings::finding;
using findings::rule;
using findings::severity;

inline constexpr std::uint64_t mib = 1 << 20;
inline constexpr std::uint64_t legacy = 1, per_thread = 2;
inline constexpr std::uint64_t stream = 0x50;
inline constexpr std::uint64_t buffer = 0x7f0000000000;
inline constexpr int after_exit = 8, after_teardown = 16;

class rules : public ::testing::Test {
  protected:
    findings::analysis const& what() {
        if (!analysed_) analysed_ = analyse(t);
        return *analysed_;
    }
    std::vector<finding> found(rule r) { return of_rule(what(), r); }

    // The one finding of the rule, and no other finding at all.
    finding only(rule r) {
        auto const all = found(r);
        EXPECT_EQ(all.size(), 1u) << titles(what());
        EXPECT_EQ(what().found.size(), 1u) << titles(what());
        return all.empty() ? finding{} : all.front();
    }
    void expect_nothing() { EXPECT_TRUE(what().found.empty()) << titles(what()); }

    trace_builder t;
    thread_builder main = t.thread("main");
    thread_builder worker = t.thread("worker");
    std::int64_t context = t.context();

  private:
    std::optional<findings::analysis> analysed_;
};

}  // namespace lastref::test
