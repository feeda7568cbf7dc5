// Stacks of a trace with names on them: what renderers show.
#pragma once

#include "analyzer/store/trace.h"
#include "analyzer/symbols/source.h"

#include <unordered_map>
#include <vector>

namespace lastref::symbols {

struct named_frame {
    std::vector<symbol> functions;  // innermost first; empty where the file says nothing
    store::module_id module;        // none: code made at run time
    std::uint64_t address = 0;      // as it was loaded
    std::uint64_t offset = 0;       // in the file's own addresses
    source_state state = source_state::found;
    bool python = false;  // a line of Python: one function, no module, and no address
};

// A stack with frames of Python is without the interpreter's own: they say how it runs Python, not what.
struct named_stack {
    std::vector<named_frame> frames;  // innermost first
    bool cut = false;
};

// Each frame is looked up once. `from` and the trace must outlive it.
class stacks {
  public:
    stacks(store::trace const& trace, source& from) : trace_(trace), from_(from) {}

    named_stack const& of(store::stack_id id);
    named_frame const& of(store::frame const& frame);

    // The function that begins at an address of the process, such as a callback's; where nothing names it, the file and
    // the place in it, empty where it is in no file (code made at run time, which wraps what other languages pass).
    std::string function_at(store::process_id process, std::uint64_t address);

  private:
    store::trace const& trace_;
    source& from_;
    std::unordered_map<store::stack_id, named_stack> stacks_;
    std::unordered_map<store::frame_id, named_frame> frames_;
};

}  // namespace lastref::symbols
