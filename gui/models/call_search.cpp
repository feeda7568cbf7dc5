#include "gui/models/call_search.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace lastref::gui {
namespace {

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

// Which entry points the text names: looked up once, not for every event.
std::vector<bool> named(store::trace const& trace, std::string const& text) {
    std::vector<bool> out;
    auto const wanted = lower(text);
    for (auto const& api : trace.apis()) {
        if (out.size() <= api.id.value) out.resize(api.id.value + 1, false);
        out[api.id.value] = lower(api.symbol).find(wanted) != std::string::npos;
    }
    return out;
}

// As unsigned numbers, in the order of the values: none of them is negative but what is not known.
std::uint64_t key_of(store::event const& e, call_column order) {
    switch (order) {
        case call_column::call:
            return e.api.value;
        case call_column::result:
            return static_cast<std::uint64_t>(e.result + 1);
        case call_column::duration:
            return static_cast<std::uint64_t>(e.duration + 1);
        case call_column::thread:
            return e.thread.value;
        case call_column::stream:
            return e.stream;
        case call_column::object:
            return e.object;
        case call_column::size:
            return e.size;
        case call_column::other:
            return e.other;
        case call_column::context:
            return e.context.value;
        default:
            return static_cast<std::uint64_t>(e.id.value);
    }
}

// A handle that is searched for; 0 for other texts.
store::handle handle_in(std::string const& text) {
    if (text.size() < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return 0;
    store::handle out = 0;
    auto const* const end = text.data() + text.size();
    auto const [stopped, problem] = std::from_chars(text.data() + 2, end, out, 16);
    return problem == std::errc() && stopped == end ? out : 0;
}

bool names(store::event const& e, store::handle handle) {
    return e.object == handle || e.other == handle || e.stream == handle;
}

using keyed = std::vector<std::pair<std::uint64_t, store::event_id>>;

void put_in_order(keyed& found, bool descending) {
    if (descending)
        std::stable_sort(found.begin(), found.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
    else
        std::stable_sort(found.begin(), found.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
}

}  // namespace

bool call_query::is_everything() const {
    auto const known = filters_of_calls();
    bool const filtered =
        std::any_of(known.begin(), known.end(), [this](auto kind) { return filters.of(kind).has_value(); });
    return !filtered && text.empty() && order == call_column::at && !descending && !first && !last;
}

bool can_sort(call_column column) {
    return column != call_column::process && column != call_column::count;
}

call_source::event_list find_calls(loaded_trace const& in, call_query const& query, std::atomic<bool> const& stopped) {
    auto const trace = store::trace::open(in.path);
    auto const handle = handle_in(query.text);
    auto const wanted = named(trace, handle != 0 ? std::string() : query.text);
    auto const known = filters_of_calls();
    auto left = in.calls.rows();  // a growing trace may have more by now
    keyed found;
    auto reader = trace.events(query.first);
    std::vector<store::event> batch;
    while (left > 0 && reader.next(batch)) {
        if (stopped) return nullptr;
        if (query.last && !batch.empty() && batch.front().id > query.last) break;
        for (auto const& e : batch) {
            if (left-- <= 0 || (query.last && e.id > query.last)) break;
            if (e.api.value >= wanted.size() || !wanted[e.api.value]) continue;
            if (handle != 0 && !names(e, handle)) continue;
            if (!query.filters.empty() && !query.filters.accepts(facets_of_call(e, in), known)) continue;
            found.emplace_back(key_of(e, query.order), e.id);
        }
    }
    put_in_order(found, query.descending);
    auto out = std::make_shared<std::vector<store::event_id>>();
    out->reserve(found.size());
    for (auto const& [key, id] : found) out->push_back(id);
    return out;
}

}  // namespace lastref::gui
