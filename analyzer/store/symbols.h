// The symbols that a trace carries: tables `symbol_file` and `symbol`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lastref::store {

struct kept_symbol {
    std::string function;  // empty where unknown
    std::string file;
    int line = 0;  // 0 where unknown
    bool inlined = false;
};

// Reads on demand. One thread at a time.
class symbols {
  public:
    // Throws store::error for what is no trace.
    explicit symbols(std::filesystem::path const& trace);
    ~symbols();
    symbols(symbols const&) = delete;
    symbols& operator=(symbols const&) = delete;

    // Recorded with --symbols=off: nobody is to look for any.
    bool unwanted() const;
    // Whether the file could be read when symbols were kept.
    bool has(std::string const& path, std::string const& build_id) const;
    // Innermost first; `offset` as symbols::source::at has it.
    std::vector<kept_symbol> at(std::string const& path, std::string const& build_id, std::uint64_t offset);

  private:
    struct contents;
    std::unique_ptr<contents> contents_;
};

}  // namespace lastref::store
