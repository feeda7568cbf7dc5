// The filters that a row suggests: its process, thread, stream, objects and rule, in words.
#pragma once

#include "gui/loader/loaded_trace.h"
#include "gui/models/filter.h"

namespace lastref::gui {

std::vector<filter> filters_for(facets const& row, loaded_trace const& trace);

// Objects that a row names, each once.
std::vector<store::handle> objects_in(facets const& row);

filter process_filter(store::process_id id, loaded_trace const& trace);
filter thread_filter(store::thread_id id, loaded_trace const& trace);
filter stream_filter(store::handle stream);
filter object_filter(store::handle object);
filter rule_filter(findings::rule rule);
filter time_filter(store::time_ns first, store::time_ns last);

}  // namespace lastref::gui
