#pragma once

#include <gtest/gtest.h>

#include "tests/unit/collector/unwind_compare.h"

namespace lastref::unwind::test {

class Unwinding : public testing::Test {
  protected:
    void SetUp() override {
        if (find_object() == nullptr) GTEST_SKIP() << "this glibc has no _dl_find_object";
        forget();
    }
};

inline void expect_same() {
    EXPECT_EQ(so_far().different, 0);
    if (so_far().different != 0) describe(so_far().first_difference);
}
inline void expect_same(std::uint64_t compared) {
    EXPECT_EQ(so_far().compared, compared);
    expect_same();
}
inline void expect_same_and_whole(std::uint64_t compared) {
    expect_same(compared);
    EXPECT_EQ(so_far().whole, compared);
    if (so_far().whole != compared) describe(so_far().first_not_whole);
}

}  // namespace lastref::unwind::test
