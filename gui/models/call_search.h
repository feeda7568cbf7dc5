// Calls by filter, text and order: one scan of the trace in the background.
#pragma once

#include "gui/loader/call_source.h"
#include "gui/models/call_model.h"
#include "gui/models/filter.h"

#include <atomic>
#include <string>

namespace lastref::gui {

struct call_query {
    filter_stack filters;
    std::string text;             // in the name of the call, case ignored; or a handle, "0x7f…", that it was given
    store::event_id first, last;  // only these; none: from the beginning, to the end
    call_column order = call_column::at;
    bool descending = false;

    // Whether the trace's own list answers it.
    bool is_everything() const;
};

bool can_sort(call_column column);

// The events in their order; null where it was stopped. Throws store::error.
call_source::event_list find_calls(loaded_trace const& in, call_query const& query, std::atomic<bool> const& stopped);

}  // namespace lastref::gui
