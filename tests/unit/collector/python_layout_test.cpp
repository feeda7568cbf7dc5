// Offsets of CPython's structures, by version and as 3.13 and newer describe themselves.
#include "collector/preload/python/layout.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace lastref::python {
namespace {

constexpr std::uint32_t python_3_10 = 0x030a0df0, python_3_11 = 0x030b02f0, python_3_12 = 0x030c01f0,
                        python_3_13 = 0x030d00f0, python_3_14 = 0x030e00f0;

// Each word says its own position, times eight: which one is taken for what shows in the layout.
class described {
  public:
    explicit described(std::uint32_t version, bool free_threaded = false) {
        for (std::size_t i = 0; i < words.size(); ++i) words[i] = i * 8;
        std::memcpy(words.data(), "xdebugpy", 8);
        words[1] = version;
        words[2] = free_threaded ? 1 : 0;
    }
    std::array<std::uint64_t, runtime_bytes / sizeof(std::uint64_t)> words;
};

TEST(python_layout, knows_versions) {
    layout out{};
    for (auto const version : {python_3_10, python_3_11, python_3_12}) EXPECT_TRUE(layout_of(version, nullptr, out));
    for (auto const version : {0u, 0x03090000u, python_3_13, python_3_14, 0x030f0000u, 0x04000000u})
        EXPECT_FALSE(layout_of(version, nullptr, out)) << version;
    EXPECT_FALSE(layout_of(0x030f00f0, described(0x030f00f0).words.data(), out));
}

TEST(python_layout, reads_no_more_than_there_is) {
    layout out{};
    ASSERT_TRUE(layout_of(python_3_10, nullptr, out));
    EXPECT_EQ(out.frame_size, 100);
    EXPECT_EQ(out.code_size, 128);
    ASSERT_TRUE(layout_of(python_3_11, nullptr, out));
    EXPECT_EQ(out.frame_size, 70);
    EXPECT_EQ(out.code_size, 144);
    EXPECT_EQ(out.text_size, 36);
}

TEST(python_layout, of_3_13_by_its_description) {
    described const it(python_3_13);
    layout out{};
    ASSERT_TRUE(layout_of(python_3_13, it.words.data(), out));
    EXPECT_EQ(out.form, frame_form::entries);
    EXPECT_FALSE(out.c_frame_between);
    EXPECT_FALSE(out.copies);
    EXPECT_EQ(out.state_current, 23 * 8);
    EXPECT_EQ(out.frame_code, 30 * 8);
    EXPECT_EQ(out.frame_owner, 33 * 8);
    EXPECT_EQ(out.code_lines, 38 * 8);
    EXPECT_EQ(out.text_ascii, 70 * 8);
    EXPECT_EQ(out.text_wide, 72 * 8);
}

TEST(python_layout, of_3_14_by_its_description) {
    described const it(python_3_14);
    layout out{};
    ASSERT_TRUE(layout_of(python_3_14, it.words.data(), out));
    EXPECT_EQ(out.state_current, 26 * 8);
    EXPECT_EQ(out.frame_previous, 32 * 8);
    EXPECT_EQ(out.code_file, 40 * 8);
    EXPECT_EQ(out.code_instructions, 48 * 8);
    EXPECT_FALSE(out.copies);
    described const threads(python_3_14, true);
    ASSERT_TRUE(layout_of(python_3_14, threads.words.data(), out));
    EXPECT_TRUE(out.copies);
    EXPECT_EQ(out.frame_copy, 38 * 8);
    EXPECT_EQ(out.code_copies, 49 * 8);
}

TEST(python_layout, refuses_descriptions_that_are_none) {
    layout out{};
    described wrong_mark(python_3_13), other_version(python_3_14), too_far(python_3_13);
    wrong_mark.words[0] ^= 1;
    EXPECT_FALSE(layout_of(python_3_13, wrong_mark.words.data(), out));
    EXPECT_FALSE(layout_of(python_3_13, other_version.words.data(), out));
    too_far.words[30] = 70000;
    EXPECT_FALSE(layout_of(python_3_13, too_far.words.data(), out));
}

}  // namespace
}  // namespace lastref::python
