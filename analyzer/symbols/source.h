// Where symbols come from, apart from what is done with them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lastref::symbols {

// One function at an address; where functions were inlined, an address has several.
struct symbol {
    std::string function;  // demangled, empty where unknown
    std::string file;
    int line = 0;          // 0 where unknown
    bool inlined = false;  // into the next one
};

enum class source_state : std::uint8_t {
    found,
    missing,      // no such file (any more)
    other_build,  // the file there has another build id: it was rebuilt or replaced since
    unreadable,
};

class source {
  public:
    virtual ~source() = default;

    // The functions at `address`, an address of the file `path` before it was moved to where it was loaded; innermost
    // first, empty where nothing is known. `build_id` in hexadecimal, empty where the trace has none: then the file is
    // trusted.
    virtual std::vector<symbol> at(std::string const& path, std::string const& build_id, std::uint64_t address) = 0;
    virtual source_state state(std::string const& path, std::string const& build_id) = 0;
};

// For `--symbols off`.
class no_source : public source {
  public:
    std::vector<symbol> at(std::string const&, std::string const&, std::uint64_t) override { return {}; }
    source_state state(std::string const&, std::string const&) override { return source_state::found; }
};

}  // namespace lastref::symbols
