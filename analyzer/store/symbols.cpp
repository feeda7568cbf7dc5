#include "analyzer/store/symbols.h"

#include "analyzer/store/open.h"

#include <map>
#include <optional>
#include <utility>

namespace lastref::store {

struct symbols::contents {
    std::string path;
    database db;
    bool unwanted = false;
    std::map<std::pair<std::string, std::string>, std::int64_t> files;
    std::optional<statement> of_offset;

    statement prepare(std::string_view sql) const { return statement(db.get(), sql, path); }
};

symbols::symbols(std::filesystem::path const& trace)
    : contents_(new contents{trace.string(), open_for_reading(trace), false, {}, {}}) {
    auto& own = *contents_;
    auto wish = own.prepare("SELECT value FROM meta WHERE key = 'symbols'");
    own.unwanted = wish.step() && wish.text(0) == "off";
    // Traces of an older lastref have no such tables.
    if (!own.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'symbol_file'").step()) return;
    auto rows = own.prepare("SELECT id, path, build_id FROM symbol_file");
    while (rows.step()) own.files.try_emplace({rows.text(1), rows.text(2)}, rows.integer(0));
    if (!own.files.empty())
        own.of_offset.emplace(
            own.prepare("SELECT function, source, line, inlined FROM symbol"
                        " WHERE file = ? AND offset = ? ORDER BY position"));
}

symbols::~symbols() = default;

bool symbols::unwanted() const {
    return contents_->unwanted;
}

bool symbols::has(std::string const& path, std::string const& build_id) const {
    return contents_->files.contains({path, build_id});
}

std::vector<kept_symbol> symbols::at(std::string const& path, std::string const& build_id, std::uint64_t offset) {
    std::vector<kept_symbol> out;
    auto const file = contents_->files.find({path, build_id});
    if (file == contents_->files.end()) return out;
    auto& rows = *contents_->of_offset;
    rows.reset();
    rows.bind(1, file->second);
    rows.bind(2, static_cast<std::int64_t>(offset));
    while (rows.step())
        out.push_back({rows.text(0), rows.text(1), static_cast<int>(rows.integer_or(2, 0)), rows.integer(3) != 0});
    return out;
}

}  // namespace lastref::store
