#include "collector/preload/record/python_frames.h"

#include <cstring>

#include "collector/preload/record/module.h"
#include "collector/preload/record/settings.h"

namespace lastref::preload::python_frames {
namespace {

static_assert(python::max_frames == spool::max_python_frames);
static_assert(sizeof(python::frame_names::function) + sizeof(python::frame_names::file) <= spool::python_text_capacity);

enum class state : int {
    none,     // no interpreter seen
    found,    // its layout is still to be proved
    proving,  // by another thread
    ready,
    off,
};
std::atomic<state> current{state::none};
python::interpreter running;
link_map const* running_object = nullptr;

// Identities of the frames written; open addressing, insert only. A frame's number is its place here.
constexpr std::uint32_t table_size = 1u << 16;
alignas(spool::page) std::atomic<std::uint64_t> written[table_size];
std::atomic<bool> any_written{false};

void give_up(thread_ring& r, char const* why) {
    current.store(state::off, std::memory_order_release);
    line note;
    note << "stacks are without Python frames: CPython ";
    if (running.version == 0)
        note << "before 3.10 ";
    else
        note << std::uint64_t{running.version >> 24 & 0xff} << "." << std::uint64_t{running.version >> 16 & 0xff} << "."
             << std::uint64_t{running.version >> 8 & 0xff} << " ";
    note << why;
    rings::write_text(r, spool::text_kind::note, note.text(), strlen(note.text()));
}

// At the first frames that there are; the kernel is asked for each read.
bool prove(thread_ring& r, std::uintptr_t of, room& with) {
    auto expected = state::found;
    if (!current.compare_exchange_strong(expected, state::proving, std::memory_order_acq_rel))
        return expected == state::ready;
    python::interpreter checked = running;
    python::proof const result = python::prove_layout(checked, with.asked, of, with.found, with.names);
    if (result == python::proof::wrong) {
        give_up(r, "is not laid out as its version should be");
        return false;
    }
    if (result == python::proof::right) running = checked;
    current.store(result == python::proof::right ? state::ready : state::found, std::memory_order_release);
    return result == python::proof::right;
}

// Whether nobody can take the thread's state away meanwhile. Only the end of the interpreter deletes states of threads
// that run; it begins by no longer being initialized, and is the work of a thread that holds the lock: the first one,
// as a rule.
bool is_safe(thread_ring const& r, void const* own) {
    if (running.attached_state() == own) return true;
    return r.slot->tid == process::the.header->pid && running.is_initialized() != 0;
}

// --- numbers

std::uint32_t find_or_claim(std::uint64_t identity, bool& is_new) {
    std::uint64_t const key = identity | 1;
    for (std::uint32_t probe = 0; probe < 64; ++probe) {
        std::uint32_t const at = (static_cast<std::uint32_t>(key >> 40) + probe) % table_size;
        std::uint64_t known = written[at].load(std::memory_order_relaxed);
        if (known == 0 && written[at].compare_exchange_strong(known, key, std::memory_order_relaxed)) {
            is_new = true;
            return at + 1;
        }
        if (known == key) return at + 1;
    }
    return 0;
}

void write_names(thread_ring& r, std::uint32_t number, python::frame_names const& names) {
    std::uint32_t const length = names.function_length + names.file_length;
    constexpr std::uint32_t first = sizeof(spool::python_record::text);
    std::uint32_t const slots = 1 + (length > first ? (length - first + 63) / 64 : 0);
    std::byte* const place = rings::room(r, slots);
    if (place == nullptr) return;
    spool::python_record head{};
    head.function_length = static_cast<std::uint16_t>(names.function_length);
    head.type = spool::record_type::python;
    head.slots = static_cast<std::uint8_t>(slots);
    head.file_length = static_cast<std::uint16_t>(names.file_length);
    head.number = number;
    head.line = names.line;
    memcpy(place, &head, offsetof(spool::python_record, text));
    memcpy(place + offsetof(spool::python_record, text), names.function, names.function_length);
    memcpy(place + offsetof(spool::python_record, text) + names.function_length, names.file, names.file_length);
    rings::publish(r, slots);
}

// The frame as a word of a stack; 0 where it has no number.
std::uint64_t word_of(thread_ring& r, room& from, python::frame const& one) {
    bool is_new = false;
    std::uint32_t const number = find_or_claim(one.identity, is_new);
    if (number == 0) {
        process::count(spool::loss::python_frames_unnamed);
        return 0;
    }
    if (is_new) {
        any_written.store(true, std::memory_order_relaxed);
        if (read_names(running, from.asked, python::trust::objects, one, from.names) && from.names.function_length != 0)
            write_names(r, number, from.names);
        else
            process::count(spool::loss::python_frames_unnamed);
    }
    return spool::python_frame(number);
}

// --- between native frames

bool is_evaluator(std::uintptr_t return_address) {
    return return_address > running.evaluator_begin && return_address <= running.evaluator_end;
}

// How many of the frames from `next` on the native frame at `depth` runs.
std::uint32_t frames_run_by(native_stack const& native, std::uint32_t depth, python::found_frames const& found,
                            std::uint32_t next) {
    std::uint32_t end = next;
    if (running.where.form == python::frame_form::objects)  // a call of the evaluator for each
        return next < found.count && is_evaluator(native.addresses[depth]) ? 1 : 0;
    // The frame's own part of the stack lies between the place of its return address and that of its caller's.
    std::uintptr_t const low = native.places[depth];
    bool const last = depth + 1 == native.count;
    std::uintptr_t const high = last ? ~std::uintptr_t{0} : native.places[depth + 1];
    if (low == 0 || high == 0) return 0;
    while (end < found.count && found.at[end].entry > low && found.at[end].entry < high) ++end;
    return end - next;
}

class merging {
  public:
    merging(thread_ring& r, room& from, std::uint64_t* words) : r_(r), from_(from), words_(words) {}

    void native(std::uintptr_t address) { words_[count_++] = address; }
    void python(std::uint32_t frames) {
        for (; frames != 0; --frames) {
            std::uint64_t const word = word_of(r_, from_, from_.found.at[next_++]);
            if (word != 0) words_[count_++] = word;
        }
    }
    std::uint32_t next() const { return next_; }
    std::uint32_t count() const { return count_; }

  private:
    thread_ring& r_;
    room& from_;
    std::uint64_t* words_;
    std::uint32_t next_ = 0, count_ = 0;
};

}  // namespace

void offer(thread_ring& r, link_map const& object) {
    if (!process::the.options.python_frames || current.load(std::memory_order_relaxed) != state::none) return;
    static std::atomic<bool> taken{false};
    python::interpreter seen{};
    python::finding const what = python::find_interpreter(object, seen);
    if (what == python::finding::none || taken.exchange(true, std::memory_order_acq_rel)) return;
    running = seen;
    running_object = &object;
    if (what == python::finding::found)
        current.store(state::found, std::memory_order_release);
    else
        give_up(r, "is not known");
}

void read(thread_ring& r, unwind::thread_stack const& own_stack, room& into) {
    into.found.count = 0;
    into.found.mark = 0;
    into.found.cut = false;
    state const now = current.load(std::memory_order_acquire);
    if (now != state::ready && now != state::found) return;
    // Hosts of plug-ins unload interpreters, too.
    if (!modules::is_loaded(running_object, reinterpret_cast<void const*>(running.own_state))) return;
    void const* const own = running.own_state();
    if (own == nullptr) return;  // no thread of Python's
    auto const at = reinterpret_cast<std::uintptr_t>(own);
    into.asked.reset(process::the.header->pid, own_stack.begin, own_stack.end);
    if (now == state::found && !prove(r, at, into)) {
        into.found.count = 0;
        into.found.mark = 0;
        return;
    }
    auto const trust = is_safe(r, own) ? python::trust::all : python::trust::objects;
    if (!python::read_frames(running, into.asked, trust, at, into.found))
        process::count(spool::loss::python_frames_unnamed);
}

std::uint32_t merge(thread_ring& r, native_stack const& native, room& from, std::uint64_t* words) {
    merging out(r, from, words);
    for (std::uint32_t depth = 0; depth < native.count; ++depth) {
        if (out.next() < from.found.count) out.python(frames_run_by(native, depth, from.found, out.next()));
        out.native(native.addresses[depth]);
    }
    out.python(from.found.count - out.next());  // beyond the end of a stack that is cut
    return out.count();
}

void forget_all() {
    auto expected = state::proving;  // by a thread that is not in this process
    current.compare_exchange_strong(expected, state::found, std::memory_order_relaxed);
    if (!any_written.exchange(false, std::memory_order_relaxed)) return;
    for (auto& entry : written) entry.store(0, std::memory_order_relaxed);
}

}  // namespace lastref::preload::python_frames
