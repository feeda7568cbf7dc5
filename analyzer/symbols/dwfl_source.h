// Symbols from the files on this machine through elfutils' libdwfl: symbol tables, and DWARF from the file itself, from
// .gnu_debuglink files and from /usr/lib/debug by build id. Never from the network.
#pragma once

#include "analyzer/symbols/source.h"

#include <memory>

namespace lastref::symbols {

// Files are opened once and kept open. One thread at a time.
class dwfl_source : public source {
  public:
    dwfl_source();
    ~dwfl_source() override;

    std::vector<symbol> at(std::string const& path, std::string const& build_id, std::uint64_t address) override;
    source_state state(std::string const& path, std::string const& build_id) override;

  private:
    struct files;
    std::unique_ptr<files> files_;
};

}  // namespace lastref::symbols
