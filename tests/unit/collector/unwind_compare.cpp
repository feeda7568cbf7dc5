#include "tests/unit/collector/unwind_compare.h"

#include <dlfcn.h>
#include <unwind.h>

#include <cstdio>
#include <cstring>

namespace lastref::unwind::test {
namespace {

struct visiting {
    stack* into;
    std::uintptr_t first;
    bool reached;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
    auto& state = *static_cast<visiting*>(argument);
    auto const address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
    state.reached = state.reached || address == state.first;
    if (!state.reached) return _URC_NO_REASON;
    if (address == 0) return _URC_END_OF_STACK;
    if (state.into->count == frames) {
        state.into->cut = true;
        return _URC_END_OF_STACK;
    }
    state.into->addresses[state.into->count++] = address;
    return _URC_NO_REASON;
}

bool same(comparison const& one) {
    auto const& [own, libgcc, result] = one;
    if (result == outcome::whole ? own.count != libgcc.count || own.cut != libgcc.cut : own.count > libgcc.count)
        return false;
    return std::memcmp(own.addresses, libgcc.addresses, own.count * sizeof(std::uintptr_t)) == 0;
}

void print(char const* name, stack const& what) {
    std::fprintf(stderr, "%s: %u frames%s\n", name, what.count, what.cut ? ", cut" : "");
    for (std::uint32_t i = 0; i < what.count; ++i) {
        Dl_info info{};
        dladdr(reinterpret_cast<void*>(what.addresses[i]), &info);
        auto const base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
        std::fprintf(stderr, "  %2u %#lx %s+%#lx %s\n", i, static_cast<unsigned long>(what.addresses[i]),
                     info.dli_fname ? info.dli_fname : "?", static_cast<unsigned long>(what.addresses[i] - base),
                     info.dli_sname ? info.dli_sname : "");
    }
}

tally all;
thread_local constinit thread_stack stack_of_thread;

}  // namespace

tally& so_far() {
    return all;
}
void forget() {
    std::memset(static_cast<void*>(&all), 0, sizeof all);
    stack_of_thread = {};
}

void describe(comparison const& one) {
    print("own", one.own);
    print("libgcc", one.libgcc);
    std::fprintf(stderr, "outcome: %s\n", one.result == outcome::whole ? "whole" : "not simple");
}

dl_find_object_function find_object() {
    static auto const found = reinterpret_cast<dl_find_object_function>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
    return found;
}

thread_stack& own_stack() {
    return stack_of_thread;
}

// May be interrupted by itself, in a signal handler.
void compare(void const* frame_address, void const* return_address) {
    auto const start = caller_of(frame_address);
    if (!stack_of_thread.holds(start.stack) && !prove(stack_of_thread, start.stack)) {
        ++all.refused;
        return;
    }
    comparison one;
    std::memset(static_cast<void*>(&one), 0, sizeof one);
    found_frames found{one.own.addresses, one.own.places, frames};
    one.result = walk(find_object(), stack_of_thread, start, found);
    one.own.count = found.count;
    one.own.cut = found.cut;
    visiting state{&one.libgcc, reinterpret_cast<std::uintptr_t>(return_address), false};
    _Unwind_Backtrace(visit, &state);
    ++all.compared;
    all.whole += one.result == outcome::whole;
    if (one.result != outcome::whole && all.compared - all.whole == 1) all.first_not_whole = one;
    if (!same(one) && all.different++ == 0) all.first_difference = one;
    all.latest = one;
}

}  // namespace lastref::unwind::test

extern "C" [[gnu::noinline, gnu::visibility("default"), gnu::no_sanitize("address", "thread", "undefined")]] void
unwind_check() {
    lastref::unwind::test::compare(__builtin_frame_address(0), __builtin_return_address(0));
    asm volatile("" ::: "memory");  // not a jump
}
