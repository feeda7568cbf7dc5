#include "collector/preload/python/layout.h"

#include <cstring>
#include <initializer_list>

namespace lastref::python {
namespace {

constexpr layout python_3_10{.form = frame_form::objects,
                             .c_frame_between = false,
                             .copies = false,
                             .object_type = 8,
                             .state_current = 24,
                             .c_current = 0,
                             .c_previous = 0,
                             .frame_code = 32,
                             .frame_previous = 24,
                             .frame_instruction = 96,  // a number of instructions, 32 bits
                             .frame_owner = 0,
                             .frame_is_entry = 0,
                             .frame_copy = 0,
                             .code_first_line = 40,
                             .code_file = 104,
                             .code_name = 112,  // there are no qualified names yet
                             .code_lines = 120,
                             .code_instructions = 0,
                             .code_copies = 0,
                             .text_length = 16,
                             .text_state = 32,
                             .text_ascii = 48,
                             .text_wide = 72,
                             .text_shift = 2,
                             .bytes_length = 16,
                             .bytes_data = 32,
                             .frame_size = 0,
                             .code_size = 0,
                             .text_size = 0};

constexpr layout python_3_11() {
    layout out = python_3_10;
    out.form = frame_form::c_frames;
    out.c_frame_between = true;
    out.state_current = 56;
    out.c_current = 8;
    out.c_previous = 16;
    out.frame_code = 32;
    out.frame_previous = 48;
    out.frame_instruction = 56;
    out.frame_is_entry = 68;
    out.frame_owner = 69;
    out.code_first_line = 72;
    out.code_file = 112;
    out.code_name = 128;
    out.code_lines = 136;
    out.code_instructions = 184;
    return out;
}

constexpr layout python_3_12() {
    layout out = python_3_11();
    out.form = frame_form::entries;
    out.c_current = 0;
    out.c_previous = 8;
    out.frame_code = 0;
    out.frame_previous = 8;
    out.frame_is_entry = 0;
    out.frame_owner = 70;
    out.code_first_line = 68;
    out.code_instructions = 192;
    out.text_ascii = 40;
    out.text_wide = 56;
    return out;
}

// Positions in the description that 3.13 and newer carry: words from the beginning of _PyRuntime.
struct description {
    std::uint8_t state_current;
    std::uint8_t frame_previous, frame_executable, frame_instruction, frame_owner;
    std::uint8_t code_file, code_qualified_name, code_lines, code_first_line, code_instructions;
    std::uint8_t object_size, object_type, bytes_data, text_state, text_length, text_ascii;
    std::uint8_t frame_copy, code_copies;  // 0: there are none
};
constexpr description described_3_13{23, 29, 30, 31, 33, 35, 37, 38, 39, 43, 44, 45, 66, 68, 69, 70, 0, 0};
constexpr description described_3_14{26, 32, 33, 34, 36, 40, 42, 43, 44, 48, 50, 51, 76, 78, 79, 80, 38, 49};

constexpr std::uint32_t version_word = 1, free_threaded_word = 2;

class description_reader {
  public:
    explicit description_reader(std::uint64_t const* words) : words_(words) {}

    std::uint16_t operator[](std::uint8_t position) {
        if (words_[position] > greatest_offset) ok_ = false;
        return static_cast<std::uint16_t>(words_[position]);
    }
    bool ok() const { return ok_; }

  private:
    static constexpr std::uint64_t greatest_offset = 4096;
    std::uint64_t const* words_;
    bool ok_ = true;
};

bool described(std::uint32_t version, std::uint64_t const* runtime, description const& at, layout& out) {
    if (memcmp(runtime, "xdebugpy", 8) != 0 || runtime[version_word] != version) return false;
    description_reader words(runtime);
    out = python_3_12();
    out.c_frame_between = false;
    out.object_type = words[at.object_type];
    out.state_current = words[at.state_current];
    out.frame_code = words[at.frame_executable];
    out.frame_previous = words[at.frame_previous];
    out.frame_instruction = words[at.frame_instruction];
    out.frame_owner = words[at.frame_owner];
    out.code_file = words[at.code_file];
    out.code_name = words[at.code_qualified_name];
    out.code_lines = words[at.code_lines];
    out.code_first_line = words[at.code_first_line];
    out.code_instructions = words[at.code_instructions];
    out.bytes_length = words[at.object_size];  // what has a size has it behind the object's head
    out.bytes_data = words[at.bytes_data];
    out.text_state = words[at.text_state];
    out.text_length = words[at.text_length];
    out.text_ascii = words[at.text_ascii];
    out.text_wide = static_cast<std::uint16_t>(out.text_ascii + 2 * sizeof(std::uint64_t));  // UTF-8 and its length
    bool const free_threaded = runtime[free_threaded_word] == 1;
    out.copies = free_threaded && at.code_copies != 0;
    if (out.copies) {
        out.frame_copy = words[at.frame_copy];
        out.code_copies = words[at.code_copies];
    }
    return words.ok();
}

constexpr std::uint16_t behind(std::uint16_t so_far, std::uint16_t field, std::size_t size) {
    auto const end = static_cast<std::uint16_t>(field + size);
    return end > so_far ? end : so_far;
}

void measure(layout& out) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    out.frame_size = out.code_size = out.text_size = 0;
    for (std::uint16_t const field : {out.frame_code, out.frame_previous})
        out.frame_size = behind(out.frame_size, field, word);
    bool const objects = out.form == frame_form::objects;
    out.frame_size = behind(out.frame_size, out.frame_instruction, objects ? sizeof(std::int32_t) : word);
    for (std::uint16_t const field : {out.frame_owner, out.frame_is_entry})
        out.frame_size = behind(out.frame_size, field, 1);
    if (out.copies) out.frame_size = behind(out.frame_size, out.frame_copy, sizeof(std::int32_t));
    for (std::uint16_t const field : {out.object_type, out.code_file, out.code_name, out.code_lines, out.code_copies})
        out.code_size = behind(out.code_size, field, word);
    out.code_size = behind(out.code_size, out.code_first_line, sizeof(std::int32_t));
    for (std::uint16_t const field : {out.object_type, out.text_length})
        out.text_size = behind(out.text_size, field, word);
    out.text_size = behind(out.text_size, out.text_state, sizeof(std::uint32_t));
}

bool known_layout(std::uint32_t version, std::uint64_t const* runtime, layout& out) {
    switch (version >> 16) {
        case 0x030a:
            out = python_3_10;
            return true;
        case 0x030b:
            out = python_3_11();
            return true;
        case 0x030c:
            out = python_3_12();
            return true;
        case 0x030d:
            return runtime != nullptr && described(version, runtime, described_3_13, out);
        case 0x030e:
            return runtime != nullptr && described(version, runtime, described_3_14, out);
        default:
            return false;
    }
}

}  // namespace

bool layout_of(std::uint32_t version, std::uint64_t const* runtime, layout& out) {
    if (!known_layout(version, runtime, out)) return false;
    measure(out);
    return true;
}

}  // namespace lastref::python
