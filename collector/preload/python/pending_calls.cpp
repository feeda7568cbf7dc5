#include "collector/preload/python/pending_calls.h"

#include <cerrno>

#include "collector/preload/record/call.h"

namespace lastref::preload::cpython {
namespace {

// --- calls that wait
// ----------------------------------------------------------------------------------------------------
//
// A fixed number: CPython takes 32 at a time, and those that it drops at its end are never given back. The list of free
// places is changed by one compare-and-swap, with a tag against a place that comes back in between, so that a signal
// handler or a fork finds it whole at every instant.

struct waiting_call {
    pending_function function;
    void* argument;
    std::uint64_t attempt;
};
struct place {
    waiting_call what;
    std::uint32_t next;  // index + 1 of the next free place
};
constexpr std::uint32_t most_waiting = 1024;
constinit place places[most_waiting] = {};
std::atomic<std::uint64_t> free_places{0};  // tag << 32 | index + 1
std::atomic<std::uint32_t> used_places{0};  // ever
std::atomic<std::uint64_t> last_attempt{0};

place* take() {
    std::uint64_t head = free_places.load(std::memory_order_acquire);
    while (static_cast<std::uint32_t>(head) != 0) {
        place& first = places[static_cast<std::uint32_t>(head) - 1];
        std::uint32_t const next = __atomic_load_n(&first.next, __ATOMIC_RELAXED);
        if (free_places.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | next, std::memory_order_acq_rel,
                                              std::memory_order_acquire))
            return &first;
    }
    std::uint32_t fresh = used_places.load(std::memory_order_relaxed);
    while (fresh < most_waiting)
        if (used_places.compare_exchange_weak(fresh, fresh + 1, std::memory_order_relaxed)) return &places[fresh];
    return nullptr;
}

void give_back(place& done) {
    auto const number = static_cast<std::uint64_t>(&done - places) + 1;
    std::uint64_t head = free_places.load(std::memory_order_relaxed);
    do {
        __atomic_store_n(&done.next, static_cast<std::uint32_t>(head), __ATOMIC_RELAXED);
    } while (!free_places.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | number, std::memory_order_acq_rel,
                                                std::memory_order_relaxed));
}

// --- recording
// ----------------------------------------------------------------------------------------------------------

std::uint64_t number(auto pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

// Nothing here starts a recording: what has no driver call has no trace.
bool is_recording() {
    return process::the.current.load(std::memory_order_acquire) == process::state::recording &&
           !process::in_forked_child();
}

auto operands_of(waiting_call const& what, std::uint64_t size) {
    return [what, size](spool::call_record& r) {
        r.object = what.attempt;
        r.other = number(what.argument);
        r.size = size;
        r.extra = number(what.function);
    };
}

int run_recorded(waiting_call const& what) {
    constexpr call_traits traits = traits_of(hooks::abi::pending_call_run);
    recorded_call call = recorded_call::enter<traits>();
    call.mark_begin<traits>(operands_of(what, 0));
    // What it calls is made by the program, and inside no call of the driver's.
    if (call.recording()) --ring.depth;
    int const result = what.function(what.argument);
    if (call.recording())
        call.leave<traits>(0, __builtin_frame_address(0), __builtin_return_address(0),
                           operands_of(what, static_cast<std::uint64_t>(static_cast<std::int64_t>(result))));
    return result;
}

// What CPython is given in place of the program's function. The place is given back before that runs, since it may
// never return.
int run(void* argument) {
    auto& from = *static_cast<place*>(argument);
    waiting_call const what = from.what;
    give_back(from);
    return is_recording() ? run_recorded(what) : what.function(what.argument);
}

int add(waiting_call const& what, place* at, add_pending_call_function real) {
    if (at == nullptr) {
        int const taken = real(what.function, what.argument);
        if (taken == 0) process::count(spool::loss::pending_calls_unwrapped);
        return taken;
    }
    at->what = what;
    int const result = real(&run, at);
    if (result != 0) give_back(*at);
    return result;
}

}  // namespace

int add_pending_call(pending_function function, void* argument) {
    add_pending_call_function const real = real_add_pending_call.load(std::memory_order_acquire);
    if (!is_recording()) return real(function, argument);
    int const saved = errno;
    constexpr call_traits traits = traits_of(hooks::abi::pending_call_attempt);
    recorded_call call = recorded_call::enter<traits>();
    waiting_call const what{function, argument, last_attempt.fetch_add(1, std::memory_order_relaxed) + 1};
    errno = saved;
    int const result = add(what, take(), real);
    if (!call.recording()) return result;
    int const after = errno;
    call.leave<traits>(0, __builtin_frame_address(0), __builtin_return_address(0),
                       operands_of(what, result == 0 ? 1 : 0));
    errno = after;
    return result;
}

}  // namespace lastref::preload::cpython
