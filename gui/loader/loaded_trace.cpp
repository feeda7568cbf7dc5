#include "gui/loader/loaded_trace.h"

#include "analyzer/findings/wording.h"
#include "gui/loader/stack_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace lastref::gui {
namespace {

template <class Row, class Id>
Row const* found_in(std::vector<Row> const& rows, Id id) {
    auto const place =
        std::lower_bound(rows.begin(), rows.end(), id, [](Row const& row, Id wanted) { return row.id < wanted; });
    return place != rows.end() && place->id == id ? &*place : nullptr;
}

}  // namespace

loaded_trace::loaded_trace(std::string const& given) : path(given), trace_(store::trace::open(given)) {
    version = trace_.version();
    state = trace_.state();
    processes = trace_.processes();
    threads = trace_.threads();
    phases = trace_.phases();
}

store::thread const* loaded_trace::find(store::thread_id id) const {
    return found_in(threads, id);
}

store::process const* loaded_trace::find(store::process_id id) const {
    return found_in(processes, id);
}

std::vector<stack_row> loaded_trace::stack(store::stack_id stack, store::thread_id thread) const {
    std::lock_guard const guard(reading_);
    return stack_unlocked(stack, thread);
}

std::vector<stack_row> loaded_trace::stack_unlocked(store::stack_id stack, store::thread_id thread) const {
    findings::site site;
    site.call.stack = stack;
    site.call.thread = thread;
    findings::analysis const nothing;
    gate::outcome const undecided;
    return stack_rows({trace_, nothing, stacks_, undecided}, site);
}

std::vector<fact_row> loaded_trace::facts_of(store::event const& e) const {
    std::vector<fact_row> out;
    auto const add = [&out](char const* name, store::handle value) {
        if (value != 0) out.push_back({name, findings::handle_text(value), value});
    };
    add("object", e.object);
    add("other", e.other);
    if (e.stream > 2) add("stream", e.stream);
    if (e.stream == 1 || e.stream == 2)
        out.push_back({"stream", e.stream == 1 ? "legacy default" : "per-thread default", 0});
    if (e.context) add("context", trace_.at(e.context).handle);
    if (e.size != 0) out.push_back({"size", findings::counted(static_cast<std::int64_t>(e.size)), 0});
    bool const timed = e.duration != store::not_returned && (e.flags & store::event_flag::no_duration) == 0;
    if (timed) out.push_back({"duration", findings::duration_text(e.duration), 0});
    return out;
}

std::optional<call_details_row> loaded_trace::call(store::event_id id) const {
    std::lock_guard const guard(reading_);
    auto const found = trace_.events_at({id});
    if (found.empty()) return std::nullopt;
    auto const& e = found.front();
    call_details_row out;
    out.event = id;
    out.process = trace_.at(e.thread).process;
    out.entry_point = trace_.at(e.api).symbol;
    out.where = fmt::format("at {} by {}", findings::time_text(e.begin), findings::thread_name(trace_.at(e.thread)));
    if (!e.returned())
        out.result = "did not return";
    else if (!e.succeeded())
        out.result = findings::result_text(e.result);
    out.facts = facts_of(e);
    if (e.stack) out.stack = stack_unlocked(e.stack, e.thread);
    return out;
}

std::shared_ptr<scenes::flame const> loaded_trace::flame(scenes::flame_question const& asked,
                                                         scenes::watch const& go_on) const {
    std::lock_guard const guard(reading_);
    return scenes::build_flame(*allocations, asked, scenes::namer_of(stacks_, trace_), go_on);
}

}  // namespace lastref::gui
