// Small programs as traces, and large ones made up, for tests of scenes and of the widgets that show them.
#pragma once

#include "gui/scenes/timeline.h"
#include "tests/unit/analyzer/trace_builder.h"

namespace lastref::test {

// Two threads, a created stream whose handle is used twice, both default streams, a graph with a user object, a free
// that races, and an orderly end with a late release.
void write_small_program(trace_builder& t);

// A payload that the program, a graph with a child, its clone and two executable graphs hold; one of these is destroyed
// while it runs, the other stays.
void write_many_holders(trace_builder& t);

// Memory that one stream uses and another frees; `ordered` by an event, or not at all. Much else happens in between.
void write_two_streams(trace_builder& t, bool ordered, int in_between);

// `calls` calls on two threads and four streams.
void write_many_calls(trace_builder& t, int calls);

// A timeline of that many made-up calls on four threads and eight streams, without a trace behind it: some in bursts,
// some alone, a few of them long.
std::shared_ptr<gui::scenes::call_timeline const> made_up_timeline(std::size_t calls);

}  // namespace lastref::test
