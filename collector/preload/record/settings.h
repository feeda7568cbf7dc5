// LASTREF_* variables. What is not understood is left at its default, said in one line, and kept as a note in the
// trace.
#pragma once

#include <cstring>

#include "collector/preload/record/process.h"

namespace lastref::preload {

inline constexpr int max_setting_errors = 8;
struct setting_errors {
    int count = 0;
    char text[max_setting_errors][160];
};

// Reads the environment; complaints go to `errors`.
settings read_settings(setting_errors& errors);

// One line on the program's stderr, in one write.
void say(char const* text);

// Copies as much as fits, always terminated.
template <std::size_t size>
void copy_text(char (&to)[size], char const* from) {
    std::size_t const length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = 0;
}

// Appends to a fixed buffer, always terminated; for code that must not use the heap or stdio.
class line {
  public:
    line& operator<<(char const* text);
    line& operator<<(std::uint64_t number);
    char const* text() const { return text_; }

  private:
    char text_[4608] = {};
    std::size_t length_ = 0;
};

}  // namespace lastref::preload
