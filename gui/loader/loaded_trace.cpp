#include "gui/loader/loaded_trace.h"

#include "gui/loader/stack_text.h"

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
    findings::site site;
    site.call.stack = stack;
    site.call.thread = thread;
    findings::analysis const nothing;
    gate::outcome const undecided;
    return stack_rows({trace_, nothing, stacks_, undecided}, site);
}

}  // namespace lastref::gui
