#include "analyzer/symbols/kept_source.h"

namespace lastref::symbols {

std::vector<symbol> kept_source::at(std::string const& path, std::string const& build_id, std::uint64_t address) {
    if (kept_.unwanted()) return {};
    auto const kept = kept_.at(path, build_id, address);
    if (kept.empty()) return rest_.at(path, build_id, address);
    std::vector<symbol> out;
    for (auto const& one : kept) out.push_back({one.function, one.file, one.line, one.inlined});
    return out;
}

source_state kept_source::state(std::string const& path, std::string const& build_id) {
    if (kept_.unwanted() || kept_.has(path, build_id)) return source_state::found;
    return rest_.state(path, build_id);
}

}  // namespace lastref::symbols
