#include "collector/preload/python/frames.h"

#include <iterator>

#include "collector/preload/python/line_table.h"

namespace lastref::python {
namespace {

// Room for what is read of a frame, of a code object and of a text or table in one go; the layout says how much it is.
constexpr std::size_t frame_room = 128;
constexpr std::size_t code_room = 256;
constexpr std::size_t head_room = 64;
// Entries of the evaluator lie between frames; a chain that is longer than this is none.
constexpr std::uint32_t longest_chain = 4 * max_frames;
constexpr std::uintptr_t tag_bits = 7;  // 3.14 marks references in the lowest bits

// No more is read of a struct than the layout needs: what lies behind it may be the end of all memory there.
template <class Memory>
using frame_part = typename Memory::template part<frame_room>;
template <class Memory>
using code_part = typename Memory::template part<code_room>;
template <class Memory>
using head_part = typename Memory::template part<head_room>;

template <class Memory>
std::uintptr_t load(Memory& memory, std::uintptr_t at) {
    std::uintptr_t value = 0;
    return memory.copy(&value, at, sizeof value) ? value : 0;
}

constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

// --- the chain

template <class State, class Frames>
class chain_walk {
  public:
    chain_walk(interpreter const& python, State& state, Frames& frames, found_frames& into)
        : where_(python.where), state_(state), frames_(frames), into_(into) {}

    bool run(std::uintptr_t state) {
        std::uintptr_t at = 0;
        if (!state_.copy(&at, state + where_.state_current, sizeof at)) return false;
        if (where_.c_frame_between && at != 0) {
            c_frame_ = at;
            if (!state_.copy(&at, c_frame_ + where_.c_current, sizeof at)) return false;
        }
        for (std::uint32_t i = 0; at != 0; ++i) {
            if (i == longest_chain || into_.count == max_frames) {
                into_.cut = true;
                break;
            }
            if (at % sizeof(void*) != 0 || !now_.read(frames_, at, where_.frame_size)) return false;
            step(at);
            at = now_.pointer(where_.frame_previous);
        }
        return true;
    }

  private:
    void step(std::uintptr_t at) {
        if (where_.form == frame_form::objects)
            return add(now_.template at<std::int32_t>(where_.frame_instruction) * 2, 0);
        if (where_.form == frame_form::c_frames) {
            add(instruction(), c_frame_);
            if (now_.template at<std::uint8_t>(where_.frame_is_entry) != 0 && c_frame_ != 0)
                c_frame_ = load(state_, c_frame_ + where_.c_previous);
            return;
        }
        if (now_.template at<std::uint8_t>(where_.frame_owner) < first_entry_owner) return add(instruction(), 0);
        // The evaluator's own frame, on its native stack: those before it are what it runs.
        while (entered_ < into_.count) into_.at[entered_++].entry = at;
    }

    std::int64_t instruction() const { return now_.template at<std::int64_t>(where_.frame_instruction); }

    void add(std::int64_t instruction, std::uintptr_t entry) {
        frame& one = into_.at[into_.count++];
        one = {now_.pointer(where_.frame_code) & ~tag_bits, instruction, entry, 0, 0};
        if (where_.copies) one.copy = now_.template at<std::int32_t>(where_.frame_copy);
    }

    layout const& where_;
    State& state_;
    Frames& frames_;
    found_frames& into_;
    frame_part<Frames> now_;
    std::uintptr_t c_frame_ = 0;
    std::uint32_t entered_ = 0;
};

// --- code objects

// Length and last characters of a text: files that are made one after the other differ in a number, towards the end.
template <class Memory>
std::uint64_t ending(layout const& where, Memory& memory, std::uintptr_t text) {
    std::uint64_t length = 0, last = 0;
    if (!memory.copy(&length, text + where.text_length, sizeof length) || length > 1u << 24) return 0;
    memory.copy(&last, text + where.text_ascii + length - sizeof last, sizeof last);
    return mixed(length, last);
}

// What tells a code object from one that was freed and had its address, even where an allocator has given this one's
// parts the addresses of that one's.
template <class Memory>
bool identify(interpreter const& python, Memory& memory, frame& one) {
    layout const& where = python.where;
    code_part<Memory> code;
    if (!code.read(memory, one.code, where.code_size) || code.pointer(where.object_type) != python.code_type)
        return false;
    struct {
        std::uint64_t length, unused, first;
    } lines;
    if (!memory.copy(&lines, code.pointer(where.code_lines) + where.bytes_length, sizeof lines)) return false;
    std::uint64_t hash = mixed(one.code, static_cast<std::uint64_t>(one.instruction));
    hash = mixed(hash, code.template at<std::uint32_t>(where.code_first_line));
    hash = mixed(hash, lines.length ^ lines.first);
    hash = mixed(hash, ending(where, memory, code.pointer(where.code_file)));
    one.identity = mixed(hash, ending(where, memory, code.pointer(where.code_name)));
    return true;
}

// --- texts

constexpr unsigned ascii_compact = 0x19;  // kind 1, compact, ascii: three bits and two
constexpr unsigned kind_bits = 7, compact_bit = 8, ascii_bit = 16;

class utf8_writer {
  public:
    utf8_writer(char* to, std::size_t room) : to_(to), room_(room) {}
    // False when it does not fit.
    bool add(std::uint32_t character) {
        unsigned const length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
        if (length_ + length > room_) return false;
        if (length == 1) {
            to_[length_++] = static_cast<char>(character);
            return true;
        }
        constexpr std::uint8_t heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
        to_[length_++] = static_cast<char>(heads[length] | character >> 6 * (length - 1));
        for (unsigned rest = length - 1; rest-- > 0;)
            to_[length_++] = static_cast<char>(0x80 | (character >> 6 * rest & 0x3f));
        return true;
    }
    std::uint32_t length() const { return static_cast<std::uint32_t>(length_); }

  private:
    char* to_;
    std::size_t room_;
    std::size_t length_ = 0;
};

template <class Memory>
std::uint32_t characters(Memory& memory, std::uintptr_t data, std::uint64_t count, unsigned kind, char* to,
                         std::size_t room) {
    utf8_writer out(to, room);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint32_t character = 0;
        if (!memory.copy(&character, data + i * kind, kind)) break;
        bool const surrogate = character >= 0xd800 && character < 0xe000;
        if (character > 0x10ffff || surrogate) character = 0xfffd;
        if (!out.add(character)) break;
    }
    return out.length();
}

// A str as UTF-8, cut to `room`. False where it is no str, or in a form that names never have.
template <class Memory>
bool read_text(interpreter const& python, Memory& memory, std::uintptr_t text, char* to, std::size_t room,
               std::uint32_t& length) {
    layout const& where = python.where;
    head_part<Memory> head;
    if (!head.read(memory, text, where.text_size) || head.pointer(where.object_type) != python.text_type) return false;
    auto const state = head.template at<std::uint32_t>(where.text_state) >> where.text_shift;
    auto const count = head.template at<std::uint64_t>(where.text_length);
    unsigned const kind = state & kind_bits;
    if ((state & compact_bit) == 0 || (kind != 1 && kind != 2 && kind != 4) || count > 1u << 24) return false;
    std::uintptr_t const data = text + ((state & ascii_bit) != 0 ? where.text_ascii : where.text_wide);
    length = characters(memory, data, count, kind, to, room);
    return true;
}

// The bytes of a bytes object, some at a time.
template <class Memory>
class byte_stream {
  public:
    byte_stream(Memory& memory, std::uintptr_t data, std::uint64_t size) : memory_(memory), at_(data), left_(size) {}

    int next() {
        if (used_ == filled_ && !fill()) return -1;
        return bytes_[used_++];
    }

  private:
    bool fill() {
        std::uint64_t const here = left_ < sizeof bytes_ ? left_ : sizeof bytes_;
        if (here == 0 || !memory_.copy(bytes_, at_, here)) return false;
        at_ += here;
        left_ -= here;
        used_ = 0;
        filled_ = static_cast<std::uint32_t>(here);
        return true;
    }

    Memory& memory_;
    std::uintptr_t at_;
    std::uint64_t left_;
    std::uint32_t used_ = 0, filled_ = 0;
    std::uint8_t bytes_[128];
};

// Where the instructions begin that the frame's pointer points into.
template <class Memory>
std::uintptr_t instructions_of(layout const& where, Memory& memory, frame const& one, code_part<Memory> const& code) {
    if (where.form == frame_form::objects) return 0;
    if (one.copy > 0) {  // an array of pointers behind its length
        std::uintptr_t const copies = code.pointer(where.code_copies);
        auto const index = static_cast<std::uintptr_t>(one.copy);
        if (copies != 0 && index < load(memory, copies)) return load(memory, copies + (index + 1) * sizeof(void*));
    }
    return one.code + where.code_instructions;
}

template <class Memory>
bool read_line(interpreter const& python, Memory& memory, frame const& one, code_part<Memory> const& code,
               std::int32_t& line) {
    constexpr std::int64_t longest = std::int64_t{1} << 28;
    layout const& where = python.where;
    std::uintptr_t const table = code.pointer(where.code_lines);
    head_part<Memory> head;
    if (!head.read(memory, table, where.bytes_data) || head.pointer(where.object_type) != python.bytes_type)
        return false;
    auto const size = head.template at<std::uint64_t>(where.bytes_length);
    auto const offset = one.instruction - static_cast<std::int64_t>(instructions_of(where, memory, one, code));
    // Before its first instruction a frame may stand just before them.
    if (size > 1u << 28 || offset < -2 || offset > longest) return false;
    auto const first = code.template at<std::int32_t>(where.code_first_line);
    byte_stream<Memory> bytes(memory, table + where.bytes_data, size);
    line = where.form == frame_form::objects ? line_by_pairs(bytes, first, offset)
                                             : line_by_locations(bytes, first, offset);
    return true;
}

std::uint64_t mark_of(found_frames const& found) {
    std::uint64_t hash = found.count + (found.cut ? std::uint64_t{1} << 32 : 0);
    for (std::uint32_t i = 0; i < found.count; ++i) hash = mixed(hash, found.at[i].identity);
    return found.count == 0 ? 0 : hash | 1;
}

// --- the proof

// Three ways in which builds keep the bits of a text's state: behind two bits, a byte or two bytes of their own.
bool find_text_shift(interpreter& python, asked_memory& memory, std::uintptr_t text) {
    layout const& where = python.where;
    head_part<asked_memory> head;
    if (!head.read(memory, text, where.text_size) || head.pointer(where.object_type) != python.text_type) return false;
    auto const state = head.at<std::uint32_t>(where.text_state);
    constexpr std::uint8_t shifts[] = {2, 8, 16};
    for (std::uint8_t const shift : shifts) {
        if ((state >> shift & 0x1f) != ascii_compact) continue;
        python.where.text_shift = shift;
        return true;
    }
    return false;
}

template <class State, class Frames, class Objects>
bool read_chain(interpreter const& python, State& state_memory, Frames& frames, Objects& objects, std::uintptr_t state,
                found_frames& into) {
    into.count = 0;
    into.cut = false;
    if (!chain_walk<State, Frames>(python, state_memory, frames, into).run(state)) return false;
    for (std::uint32_t i = 0; i < into.count; ++i) {
        if (!identify(python, objects, into.at[i])) return false;
    }
    return true;
}

template <class Memory>
bool read_names_by(interpreter const& python, Memory& memory, frame const& one, frame_names& into) {
    layout const& where = python.where;
    code_part<Memory> code;
    if (!code.read(memory, one.code, where.code_size) || code.pointer(where.object_type) != python.code_type)
        return false;
    return read_text(python, memory, code.pointer(where.code_name), into.function, sizeof into.function,
                     into.function_length) &&
           read_text(python, memory, code.pointer(where.code_file), into.file, sizeof into.file, into.file_length) &&
           read_line(python, memory, one, code, into.line);
}

}  // namespace

bool read_frames(interpreter const& python, asked_memory& asked, trust in, std::uintptr_t state, found_frames& into) {
    into.mark = 0;
    bool good = false;
    own_memory own;
    if (in == trust::all)
        good = read_chain(python, own, own, own, state, into);
    else if (in == trust::nothing)
        good = read_chain(python, asked, asked, asked, state, into);
    else if (python.where.form == frame_form::objects)
        good = read_chain(python, asked, own, own, state, into);
    else
        good = read_chain(python, asked, asked, own, state, into);
    if (good)
        into.mark = mark_of(into);
    else
        into.count = 0;
    return good;
}

bool read_names(interpreter const& python, asked_memory& asked, trust in, frame const& one, frame_names& into) {
    own_memory own;
    return in == trust::nothing ? read_names_by(python, asked, one, into) : read_names_by(python, own, one, into);
}

proof prove_layout(interpreter& python, asked_memory& memory, std::uintptr_t state, found_frames& room,
                   frame_names& names) {
    if (!read_frames(python, memory, trust::nothing, state, room)) return proof::wrong;
    if (room.count == 0) return proof::undecided;
    // Most names are ASCII: one that is tells how texts are kept here.
    bool shift_known = false;
    for (std::uint32_t i = 0; i < room.count && !shift_known; ++i)
        shift_known = find_text_shift(python, memory, load(memory, room.at[i].code + python.where.code_name)) ||
                      find_text_shift(python, memory, load(memory, room.at[i].code + python.where.code_file));
    if (!shift_known) return proof::undecided;
    for (std::uint32_t i = 0; i < room.count; ++i) {
        if (!read_names(python, memory, trust::nothing, room.at[i], names) || names.function_length == 0)
            return proof::wrong;
    }
    return proof::right;
}

}  // namespace lastref::python
