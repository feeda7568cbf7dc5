// The interpreter in this process: which CPython it is, and what of it is needed to read a thread's frames. See
// docs/adr/0010-python-frames.md.
#pragma once

#include <link.h>

#include <cstdint>

#include "collector/preload/python/layout.h"

namespace lastref::python {

// Functions of the interpreter that are called take no lock and allocate nothing: each returns a variable, one of them
// a thread-local one.
struct interpreter {
    std::uint32_t version;  // as Py_Version
    layout where;
    std::uintptr_t code_type, text_type, bytes_type;
    std::uintptr_t evaluator_begin, evaluator_end;  // _PyEval_EvalFrameDefault, as far as the symbol reaches
    void* (*own_state)();       // the calling thread's state, whether or not it holds the interpreter's lock; or null
    void* (*attached_state)();  // the state that holds the lock: in 3.10 and 3.11 perhaps another thread's
    int (*is_initialized)();    // not before, nor from the beginning of its end on
};

enum class finding : std::uint8_t {
    none,     // the object is no interpreter
    unknown,  // it is one, of a version whose layout is not known
    found,
};

// Looks at one loaded object. Takes no lock: reads the object's own symbol table.
finding find_interpreter(link_map const& object, interpreter& out);

}  // namespace lastref::python
