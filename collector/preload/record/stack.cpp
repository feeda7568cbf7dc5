#include "collector/preload/record/stack.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unwind.h>

#include <cstring>

#include "collector/preload/driver/dlsym.h"
#include "collector/preload/record/module.h"
#include "collector/preload/record/python_frames.h"
#include "collector/preload/unwind/thread_stack.h"
#include "collector/preload/unwind/walk.h"

namespace lastref::preload {

namespace {

constexpr std::uint32_t cache_entries = 64;
// A chain of frames that leaves this range has probably changed stacks (a coroutine, a signal stack): it is not cached,
// since the other stack may be gone when it is compared.
constexpr std::uintptr_t cacheable_span = std::uintptr_t{256} << 10;

struct cached_stack {
    std::uintptr_t frame;          // of the wrapper
    std::uintptr_t caller;         // its return address
    std::uint64_t python;          // mark of the Python frames, 0 without
    std::uint64_t segment_serial;  // where `number` is defined
    std::uint16_t number;
    std::uint16_t count;
    std::uint16_t word_count;
    bool cut;
    bool comparable;
    std::uint32_t offsets[spool::max_stack_frames];  // of the return address's place from `frame`; 0: not known
    std::uintptr_t addresses[spool::max_stack_frames];
    std::uint64_t words[spool::max_stack_words];  // as it is written: addresses and Python frames
};

}  // namespace

struct stack_cache {
    unwind::thread_stack own_stack;
    cached_stack entries[cache_entries];
    python_frames::room python;
};

namespace stacks {
namespace {

using backtrace_function = _Unwind_Reason_Code (*)(_Unwind_Trace_Fn, void*);
using get_word_function = _Unwind_Word (*)(_Unwind_Context*);

unwind::dl_find_object_function find_object = nullptr;
backtrace_function unwind_backtrace = nullptr;
get_word_function unwind_ip = nullptr;
get_word_function unwind_cfa = nullptr;
bool prepared = false;

void note_place(cached_stack& stack, std::uint32_t depth, std::uintptr_t place) {
    std::uintptr_t const offset = place - stack.frame;
    if (offset > cacheable_span) stack.comparable = false;
    stack.offsets[depth] = offset <= ~std::uint32_t{0} ? static_cast<std::uint32_t>(offset) : 0;
}

// --- libgcc's unwinder: for what ours leaves

struct unwinding {
    cached_stack* result;
    bool reached_wrapper;
};

// The unwinder reports, frame by frame from the innermost, where execution will go on. The first frames are ours; the
// program begins behind the frame whose CFA is the wrapper's.
_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
    auto& state = *static_cast<unwinding*>(argument);
    cached_stack& stack = *state.result;
    auto const address = static_cast<std::uintptr_t>(unwind_ip(context));
    if (!state.reached_wrapper) {
        state.reached_wrapper = address == stack.caller;
        if (!state.reached_wrapper) return _URC_NO_REASON;
    }
    if (address == 0) return _URC_END_OF_STACK;
    if (stack.count == spool::max_stack_frames) {
        stack.cut = true;
        return _URC_END_OF_STACK;
    }
    // On x86-64 the call pushed the return address just below the caller's CFA; the unwinder's CFA for a frame is the
    // one of the frame that it called.
    note_place(stack, stack.count, static_cast<std::uintptr_t>(unwind_cfa(context)) - sizeof(void*));
    stack.addresses[stack.count++] = address;
    return _URC_NO_REASON;
}

void unwind_with_libgcc(cached_stack& stack) {
    stack.count = 0;
    stack.cut = false;
    stack.comparable = true;
    unwinding state{&stack, false};
    unwind_backtrace(visit, &state);
}

// --- ours

// True if the stack is whole.
bool unwind_simply(unwind::thread_stack& own, cached_stack& stack) {
    if (find_object == nullptr || stack.frame == 0 || (!own.holds(stack.frame) && !unwind::prove(own, stack.frame)))
        return false;
    std::uintptr_t places[spool::max_stack_frames];
    unwind::found_frames found{stack.addresses, places, spool::max_stack_frames};
    auto const innermost = unwind::caller_of(reinterpret_cast<void const*>(stack.frame));
    bool const whole = unwind::walk(find_object, own, innermost, found) == unwind::outcome::whole;
    for (std::uint32_t i = 0; i < found.count; ++i) note_place(stack, i, places[i]);
    stack.count = static_cast<std::uint16_t>(found.count);
    stack.cut = found.cut;
    return whole;
}

// --- both

bool unchanged(cached_stack const& stack) {
    for (std::uint32_t i = 0; i < stack.count; ++i) {
        std::uintptr_t found;
        memcpy(&found, reinterpret_cast<void const*>(stack.frame + stack.offsets[i]), sizeof found);
        if (found != stack.addresses[i]) return false;
    }
    return true;
}

// LASTREF_VERIFY=1: whether libgcc finds the same.
void verify(cached_stack const& stack) {
    cached_stack other{};
    other.frame = stack.frame;
    other.caller = stack.caller;
    unwind_with_libgcc(other);
    bool const same = other.count == stack.count && other.cut == stack.cut &&
                      memcmp(other.addresses, stack.addresses, stack.count * sizeof(std::uintptr_t)) == 0;
    if (!same) process::count(spool::loss::stack_mismatch);
}

void add_python(thread_ring& r, cached_stack& stack) {
    std::uintptr_t places[spool::max_stack_frames];
    for (std::uint32_t i = 0; i < stack.count; ++i)
        places[i] = stack.offsets[i] != 0 ? stack.frame + stack.offsets[i] : 0;
    python_frames::room& python = r.stacks->python;
    stack.cut |= python.found.cut;
    stack.word_count = static_cast<std::uint16_t>(
        python_frames::merge(r, {stack.addresses, places, stack.count}, python, stack.words));
}

// Return addresses must be where the unwinder's CFAs say: otherwise the stack is not compared but unwound every time.
void unwind_anew(thread_ring& r, cached_stack& stack, std::uintptr_t frame, std::uintptr_t caller) {
    stack.frame = frame;
    stack.caller = caller;
    stack.python = r.stacks->python.found.mark;
    stack.segment_serial = 0;
    stack.count = 0;
    stack.cut = false;
    stack.comparable = true;
    bool const whole = unwind_simply(r.stacks->own_stack, stack);
    if (unwind_backtrace == nullptr)
        stack.cut |= !whole;
    else if (!whole)
        unwind_with_libgcc(stack);
    else if (process::the.options.verify_context) [[unlikely]]
        verify(stack);
    if (stack.comparable) stack.comparable = unchanged(stack);
    // Neighbouring frames mostly lie in one module: it is looked up once.
    modules::range last{};
    for (std::uint32_t i = 0; i < stack.count; ++i) {
        if (!last.holds(stack.addresses[i])) last = modules::note(r, stack.addresses[i]);
    }
    // The first stack of all through an interpreter is what tells that there is one.
    if (stack.python == 0) {
        python_frames::read(r, r.stacks->own_stack, r.stacks->python);
        stack.python = r.stacks->python.found.mark;
    }
    add_python(r, stack);
    if (stack.cut) process::count(spool::loss::stacks_cut);
}

bool define(thread_ring& r, cached_stack& stack) {
    std::uint32_t const slots = spool::stack_slots(stack.word_count);
    // The call's own record must lie in the segment that defines its stack.
    if (r.used + slots + 1 > spool::slots_per_segment && !rings::next_segment(r)) return false;
    std::byte* const place = rings::room(r, slots);
    if (place == nullptr) return false;
    spool::stack_record head{};
    head.number = r.next_stack++;
    head.type = spool::record_type::stack;
    head.slots = static_cast<std::uint8_t>(slots);
    head.count = stack.word_count;
    head.flags = stack.cut ? spool::flag_stack_cut : std::uint8_t{0};
    memcpy(place, &head, offsetof(spool::stack_record, frames));
    memcpy(place + offsetof(spool::stack_record, frames), stack.words, stack.word_count * sizeof(std::uint64_t));
    rings::publish(r, slots);
    stack.number = head.number;
    stack.segment_serial = r.segment_serial;
    return true;
}

stack_cache* cache_of(thread_ring& r) {
    if (r.stacks == nullptr && process::confined()) {
        if (r.no_stacks == 0) process::count(spool::loss::records_dropped);
        r.no_stacks = 1;
    } else if (r.stacks == nullptr) {
        void* const memory =
            mmap(nullptr, sizeof(stack_cache), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) r.stacks = static_cast<stack_cache*>(memory);
    }
    return r.stacks;
}

std::uint32_t bucket(std::uintptr_t frame, std::uintptr_t caller, std::uint64_t python) {
    std::uint64_t const mixed = (frame ^ (caller << 1) ^ python) * 0x9e3779b97f4a7c15u;
    return static_cast<std::uint32_t>(mixed >> 58) % cache_entries;
}

void load_libgcc() {
    void* const library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return;
    unwind_ip = reinterpret_cast<get_word_function>(next_dlsym(library, "_Unwind_GetIP"));
    unwind_cfa = reinterpret_cast<get_word_function>(next_dlsym(library, "_Unwind_GetCFA"));
    auto const backtrace = reinterpret_cast<backtrace_function>(next_dlsym(library, "_Unwind_Backtrace"));
    if (unwind_ip != nullptr && unwind_cfa != nullptr) unwind_backtrace = backtrace;
}

}  // namespace

std::uint16_t capture(thread_ring& r, void* frame_address, void* caller_address) {
    if (!prepared || r.writing != 0) return 0;
    stack_cache* const cache = cache_of(r);
    if (cache == nullptr) return 0;
    auto const frame = reinterpret_cast<std::uintptr_t>(frame_address);
    auto const caller = reinterpret_cast<std::uintptr_t>(caller_address);
    r.writing = 1;
    python_frames::read(r, cache->own_stack, cache->python);
    std::uint64_t const python = cache->python.found.mark;
    // The number must still be this segment's when the call's record is written.
    if (r.used + 1 > spool::slots_per_segment && !rings::next_segment(r)) {
        r.writing = 0;
        return 0;
    }
    cached_stack& stack = cache->entries[bucket(frame, caller, python)];
    bool const same = stack.frame == frame && stack.caller == caller && stack.python == python && stack.comparable &&
                      unchanged(stack);
    if (same && stack.segment_serial == r.segment_serial) [[likely]] {
        r.writing = 0;
        return stack.number;
    }
    if (!same) unwind_anew(r, stack, frame, caller);
    bool const defined = stack.count != 0 && define(r, stack);
    r.writing = 0;
    return defined ? stack.number : std::uint16_t{0};
}

void note_module(thread_ring& r, void const* address) {
    if (r.writing != 0 || r.noted_function == address) return;
    r.noted_function = address;
    r.writing = 1;
    modules::note(r, reinterpret_cast<std::uintptr_t>(address));
    r.writing = 0;
}

void prepare() {
    modules::prepare();
    if (prepared || process::the.options.stacks == stack_setting::off) return;
    find_object = reinterpret_cast<unwind::dl_find_object_function>(next_dlsym(RTLD_NEXT, "_dl_find_object"));
    load_libgcc();
    prepared = true;
}

void prepare_thread(thread_ring& r) {
    if (prepared) cache_of(r);
}

void forget(thread_ring& r) {
    if (r.stacks != nullptr) munmap(r.stacks, sizeof(stack_cache));
    r.stacks = nullptr;
}

}  // namespace stacks
}  // namespace lastref::preload
