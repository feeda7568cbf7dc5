// What is wrong in a file that a person wrote or keeps: suppressions, baselines.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lastref::gate {

struct position {
    std::size_t line = 1;
    std::size_t column = 1;  // in bytes
};

position position_of(std::string_view text, std::size_t offset);

// `what()` is one line for people: "FILE:LINE:COLUMN: what is wrong". The file's name is in it as it was given.
class input_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    input_error(std::string_view file, position where, std::string_view what);
};

// The whole file; throws input_error where it cannot be read.
std::string read_file(std::string const& path);

}  // namespace lastref::gate
