// The Python frames of the calling thread.
//
// A thread's frames change only while it runs Python code itself; where this code runs, it is inside a call that Python
// code made. So they can be read without the interpreter's lock, as long as the thread's state itself is there.
#pragma once

#include <cstdint>

#include "collector/preload/python/interpreter.h"
#include "collector/preload/python/memory.h"

namespace lastref::python {

inline constexpr std::uint32_t max_frames = 96;

struct frame {
    std::uintptr_t code;       // its code object
    std::int64_t instruction;  // that it is at: the address, in 3.10 the offset in bytes
    std::uintptr_t entry;      // an address in the native frame of the evaluator that runs it, 0 where not known
    std::uint64_t identity;    // of code object and instruction: another one, at the same address later, has another
    std::int32_t copy;         // of the instructions, 0 but for free-threaded interpreters
};

// Innermost first.
struct found_frames {
    std::uint32_t count;
    bool cut;            // there are more
    std::uint64_t mark;  // of all frames; 0 where there are none
    frame at[max_frames];
};

// Room for texts, of a frame or of all: a thread needs one.
struct frame_names {
    char function[320];
    char file[1600];
    std::uint32_t function_length, file_length;
    std::int32_t line;  // 0: not known
};

// What will surely not go away while it is read. The rest is asked of the kernel.
enum class trust : std::uint8_t {
    nothing,  // the layout is not proved yet: there may be nothing at all where something is looked for
    objects,  // another thread may take the thread's state and its frames away; not what frames refer to, nor, in 3.10,
              // where they are objects, frames
    all,
};

// Reads the frames that hang on a thread's state. False where something is not as it has to be; then there are none.
bool read_frames(interpreter const& python, asked_memory& asked, trust in, std::uintptr_t state, found_frames& into);

// Function, file and line of one frame. False where the code object is not as it has to be.
bool read_names(interpreter const& python, asked_memory& asked, trust in, frame const& one, frame_names& into);

// Whether all that reading frames depends on is so in the running interpreter: reads the frames of a state with names
// and types checked, and finds out how this build keeps what it knows of a text. Changes `python` on success. `memory`
// must have been reset.
enum class proof : std::uint8_t { right, wrong, undecided };  // undecided: there is no frame to look at
proof prove_layout(interpreter& python, asked_memory& memory, std::uintptr_t state, found_frames& room,
                   frame_names& names);

}  // namespace lastref::python
