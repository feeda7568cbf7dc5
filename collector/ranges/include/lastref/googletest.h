// Marks each test of GoogleTest (1.10 or newer) as a range of lastref's recording, from before SetUp to after TearDown:
//
//     int main(int argc, char** argv) {
//         testing::InitGoogleTest(&argc, argv);
//         lastref::mark_tests_as_ranges();
//         return RUN_ALL_TESTS();
//     }
//
// With gtest_main, a global object does: `static bool const marked = lastref::mark_tests_as_ranges();`
#ifndef LASTREF_GOOGLETEST_H
#define LASTREF_GOOGLETEST_H

#include <gtest/gtest.h>

#include <string>

#include "lastref/range.h"

namespace lastref {

class range_listener : public ::testing::EmptyTestEventListener {
  public:
    void OnTestStart(::testing::TestInfo const& test) override {
        number_ = begin_range((std::string(test.test_suite_name()) + "." + test.name()).c_str());
    }
    void OnTestEnd(::testing::TestInfo const&) override {
        end_range(number_);
        number_ = 0;
    }

  private:
    unsigned long long number_ = 0;
};

// Call it once. GoogleTest owns the listener. Always true.
inline bool mark_tests_as_ranges() {
    ::testing::UnitTest::GetInstance()->listeners().Append(new range_listener);
    return true;
}

}  // namespace lastref

#endif
