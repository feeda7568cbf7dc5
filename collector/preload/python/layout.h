// Where CPython keeps what a call stack is made of: offsets by version.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lastref::python {

// How the frames of a thread hang together, and how they lie to the interpreter's own stack.
enum class frame_form : std::uint8_t {
    objects,   // 3.10: a list of frame objects, each evaluated by a call of the evaluator of its own
    c_frames,  // 3.11: one call of the evaluator runs several; a struct on its stack knows the innermost
    entries,   // 3.12 and newer: an entry frame on the evaluator's stack ends the frames that it runs
};

// Bytes from the beginning of each struct.
struct layout {
    frame_form form;
    bool c_frame_between;  // the thread state leads to the innermost frame through a C frame
    bool copies;           // threads may run copies of a function's instructions (free-threaded 3.14)

    std::uint16_t object_type;

    std::uint16_t state_current;  // thread state: innermost frame, or C frame
    std::uint16_t c_current, c_previous;

    std::uint16_t frame_code, frame_previous, frame_instruction;
    std::uint16_t frame_owner, frame_is_entry;  // one byte each
    std::uint16_t frame_copy;                   // which copy of the instructions; 32 bits

    std::uint16_t code_first_line;  // 32 bits
    std::uint16_t code_file, code_name, code_lines;
    std::uint16_t code_instructions, code_copies;

    std::uint16_t text_length, text_state, text_ascii, text_wide;  // the last two: characters of compact strings
    std::uint8_t text_shift;                                       // of kind, compact and ascii in the state
    std::uint16_t bytes_length, bytes_data;

    std::uint16_t frame_size, code_size, text_size;  // as far as the fields above reach
};

// Frames with this owner or a greater one run no code: entries of the evaluator.
inline constexpr std::uint8_t first_entry_owner = 3;

// As Py_Version: 0x030b02f0 is 3.11.2. `runtime` is what lies at _PyRuntime, at least `runtime_bytes` of it: 3.13 and
// newer describe themselves there. False for versions that are not known.
inline constexpr std::size_t runtime_bytes = 100 * sizeof(std::uint64_t);
bool layout_of(std::uint32_t version, std::uint64_t const* runtime, layout& out);

}  // namespace lastref::python
