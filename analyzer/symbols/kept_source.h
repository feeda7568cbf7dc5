// Symbols that a trace carries itself (`lastref symbolize`), before those of this machine's files.
#pragma once

#include "analyzer/store/symbols.h"
#include "analyzer/symbols/source.h"

#include <filesystem>

namespace lastref::symbols {

// `rest` is asked for what the trace does not have, and must outlive it. Throws store::error for what is no trace. One
// thread at a time.
class kept_source : public source {
  public:
    kept_source(std::filesystem::path const& trace, source& rest) : kept_(trace), rest_(rest) {}

    std::vector<symbol> at(std::string const& path, std::string const& build_id, std::uint64_t address) override;
    source_state state(std::string const& path, std::string const& build_id) override;

  private:
    store::symbols kept_;
    source& rest_;
};

}  // namespace lastref::symbols
