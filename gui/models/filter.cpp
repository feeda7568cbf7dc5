#include "gui/models/filter.h"

#include <algorithm>

namespace lastref::gui {
namespace {

bool has(std::vector<store::handle> const& handles, std::int64_t value) {
    return std::find(handles.begin(), handles.end(), static_cast<store::handle>(value)) != handles.end();
}

bool has(std::vector<store::thread_id> const& threads, std::int64_t value) {
    return std::any_of(threads.begin(), threads.end(), [value](auto id) { return id.value == value; });
}

}  // namespace

bool accepts(filter const& f, facets const& row) {
    switch (f.kind) {
        case filter_kind::time:
            return row.begin <= f.last && row.end >= f.value;
        case filter_kind::process:
            return row.process.value == f.value;
        case filter_kind::thread:
            return has(row.threads, f.value);
        case filter_kind::stream:
            return has(row.streams, f.value);
        case filter_kind::object:
            return has(row.objects, f.value);
        case filter_kind::rule:
            return row.rule && static_cast<std::int64_t>(*row.rule) == f.value;
    }
    return true;
}

void filter_stack::add(filter const& f) {
    remove(f.kind);
    all_.push_back(f);
}

void filter_stack::remove(filter_kind kind) {
    std::erase_if(all_, [kind](auto const& f) { return f.kind == kind; });
}

std::optional<filter> filter_stack::of(filter_kind kind) const {
    auto const found = std::find_if(all_.begin(), all_.end(), [kind](auto const& f) { return f.kind == kind; });
    return found == all_.end() ? std::nullopt : std::optional(*found);
}

bool filter_stack::accepts(facets const& row, std::vector<filter_kind> const& known) const {
    return std::all_of(all_.begin(), all_.end(), [&](auto const& f) {
        return std::find(known.begin(), known.end(), f.kind) == known.end() || gui::accepts(f, row);
    });
}

}  // namespace lastref::gui
