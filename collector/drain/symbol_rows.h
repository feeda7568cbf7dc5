// Symbols kept in a trace: which code they are wanted of, and their rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/drain/trace_file.h"

namespace lastref::drain {

// Code in one file: where frames of stacks and functions of callbacks lie in it, in the file's own addresses.
struct code_in_file {
    std::string path;
    std::string build_id;  // hexadecimal, empty where it has none
    std::vector<std::uint64_t> offsets;
};

// All code of the trace, by file.
std::vector<code_in_file> code_in_trace(trace_file& trace);

struct symbol_row {
    std::uint64_t offset;
    std::int64_t position;  // 0 is innermost
    std::string_view function, source;
    std::int64_t line;  // 0 where unknown
    bool inlined;
};

// Writes what symbols there are; what is known of the same file already is replaced. One transaction: `commit` or
// nothing. Throws database_error.
class symbol_writer {
  public:
    explicit symbol_writer(trace_file& trace);

    void begin_file(std::string_view path, std::string_view build_id);
    void add(symbol_row const& row);
    void commit();

  private:
    trace_file& trace_;
    transaction all_;
    statement symbol_;
    std::int64_t file_ = 0;
};

}  // namespace lastref::drain
