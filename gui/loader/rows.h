// What pages show, ready made in the background: texts as they came from the program, numbers to sort by, and what can
// be filtered by. Nothing here refers to an open file.
#pragma once

#include "analyzer/findings/finding.h"
#include "analyzer/gate/gate.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lastref::gui {

// A line of a call stack. Either a function, or `instead` says what stands for frames that are left out.
struct stack_row {
    std::string function;
    std::string place;  // "…/src/f.cpp:10", or file and offset
    std::string file;   // of the source, absolute; empty where not known
    int line = 0;       // 0 where not known
    bool own = false;   // code of the program's own
    std::string instead;
};

struct site_row {
    std::string role;   // "allocated"
    std::string where;  // "at 0.036 s by the main thread"
    std::string entry_point;
    std::string note;
    store::event_id event;
    std::vector<stack_row> stack;
};

struct consequence_row {
    std::string rule;
    std::string text;
    std::vector<site_row> sites;
};

struct finding_row {
    findings::rule rule = findings::rule::count;
    findings::severity severity = findings::severity::note;
    gate::state state = gate::state::open;
    std::string confidence;
    std::string confidence_reason;
    std::string title;
    std::vector<std::string> what;
    std::vector<std::string> holders;
    std::string why;
    std::string advice;
    std::string place;  // "f (src/f.cpp:10)"
    store::process_id process;
    std::string process_name;
    std::vector<store::thread_id> threads;
    std::vector<store::handle> streams;  // created ones that its calls were given
    std::vector<store::handle> objects;
    store::time_ns first_seen = 0;
    store::time_ns last_seen = 0;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::string fingerprint;
    std::vector<site_row> sites;
    std::vector<consequence_row> consequences;
    std::string suppression;  // lines for a file of suppressions
    std::string markdown;
    std::string command_line;  // shows the same in a terminal
};

// Who keeps an object alive.
enum class holder_kind : std::uint8_t { program, graph, graph_exec, launch, nobody };

struct holder_row {
    holder_kind kind = holder_kind::nobody;
    std::string text;  // "executable graph 0x20: 1 reference"
    std::int64_t references = 0;
    store::handle handle = 0;
    store::event_id since;
};

// An object that was alive at the end of its process, or of what is recorded so far.
struct outstanding_row {
    model::object_kind kind = model::object_kind::count;
    store::process_id process;
    store::thread_id thread;
    store::handle handle = 0;
    store::handle payload = 0;  // of a user object
    std::uint64_t bytes = 0;    // of a user object: of the memory that its payload probably stands for
    store::time_ns created = 0;
    store::time_ns age = 0;
    store::event_id event;
    store::stack_id stack;
    std::string entry_point;
    std::string site;  // the program's own function that made it
    std::vector<holder_row> holders;
    std::optional<std::size_t> finding;  // that tells of its place
};

struct fact_row {
    std::string name;          // "object"
    std::string text;          // "0x7f…"
    store::handle object = 0;  // that it names
};

// One call in full.
struct call_details_row {
    store::event_id event;
    store::process_id process;
    std::string entry_point;
    std::string where;  // "at 0.036 s by the main thread"
    std::string result;
    std::vector<fact_row> facts;
    std::vector<stack_row> stack;
};

struct suppression_row {
    std::string text;
    std::string file;
    std::size_t line = 0;
    std::uint64_t matches = 0;
};

struct process_row {
    store::process_id id;
    std::string name;
    std::string command_line;
    std::string end;  // how it ended
    std::uint64_t calls = 0;
};

}  // namespace lastref::gui
