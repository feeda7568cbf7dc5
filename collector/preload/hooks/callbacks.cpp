#include "collector/preload/hooks/callbacks.h"

#include <sys/mman.h>

#include <atomic>

#include "collector/preload/record/call.h"

namespace lastref::preload::callbacks {
namespace {

// --- the slab: chunks of pairs, never unmapped, with a free list whose head carries a tag against reuse in between
// --------

constexpr std::uint32_t pairs_in_chunk = 2048;
constexpr std::uint32_t max_chunks = 4096;  // 8 million pairs
constexpr std::uint32_t no_pair = 0xffffffff;

std::atomic<pair*> chunks[max_chunks];
std::atomic<std::uint32_t> handed_out{0};  // pairs ever taken from chunks
std::atomic<std::uint64_t> free_pairs{no_pair};

pair* at(std::uint32_t index) {
    pair* const chunk = chunks[index / pairs_in_chunk].load(std::memory_order_acquire);
    return chunk + index % pairs_in_chunk;
}

bool back_chunk(std::uint32_t number) {
    if (chunks[number].load(std::memory_order_acquire) != nullptr) return true;
    void* const memory =
        mmap(nullptr, sizeof(pair) * pairs_in_chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    pair* expected = nullptr;
    if (!chunks[number].compare_exchange_strong(expected, static_cast<pair*>(memory), std::memory_order_acq_rel))
        munmap(memory, sizeof(pair) * pairs_in_chunk);
    return true;
}

pair* pop() {
    std::uint64_t head = free_pairs.load(std::memory_order_acquire);
    for (;;) {
        auto const index = static_cast<std::uint32_t>(head);
        if (index == no_pair) return nullptr;
        std::uint32_t const next = __atomic_load_n(&at(index)->next, __ATOMIC_RELAXED);
        std::uint64_t const changed = ((head >> 32) + 1) << 32 | next;
        if (free_pairs.compare_exchange_weak(head, changed, std::memory_order_acq_rel, std::memory_order_acquire))
            return at(index);
    }
}

pair* fresh() {
    std::uint32_t const index = handed_out.fetch_add(1, std::memory_order_relaxed);
    if (index >= pairs_in_chunk * max_chunks || !back_chunk(index / pairs_in_chunk)) {
        handed_out.fetch_sub(1, std::memory_order_relaxed);
        return nullptr;
    }
    pair* const p = at(index);
    p->index = index;
    return p;
}

pair* take(void* function, void* argument) {
    pair* p = pop();
    if (p == nullptr) p = fresh();
    if (p == nullptr) {
        process::count(spool::loss::callbacks_unwrapped);
        return nullptr;
    }
    p->function = function;
    p->argument = argument;
    p->object = 0;
    return p;
}

// --- pairs that graphs may keep: by (function, argument), insert only
// ------------------------------------------------------

constexpr std::uint32_t interned_size = 1u << 20;
std::atomic<std::uint32_t>* interned = nullptr;  // index + 1 of the pair, 0 = free

std::atomic<std::uint32_t>* table() {
    auto* known = __atomic_load_n(&interned, __ATOMIC_ACQUIRE);
    if (known != nullptr) return known;
    std::size_t const size = sizeof(std::atomic<std::uint32_t>) * interned_size;
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    auto* const mine = static_cast<std::atomic<std::uint32_t>*>(memory);
    if (__atomic_compare_exchange_n(&interned, &known, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return mine;
    munmap(memory, size);
    return known;
}

// --- recording a callback
// ---------------------------------------------------------------------------------------------------

// The callback's begin and end around `run`. Its calls into the driver carry flag_in_callback meanwhile.
template <hooks::abi id, class Run>
void record(pair const& p, std::uint64_t object, std::uint64_t other, std::uint64_t stream, std::uint64_t status,
            Run&& run) {
    constexpr call_traits traits{id, event_order::begin_mark, stack_setting::all, stamp_count::two};
    auto const operands = [&](spool::call_record& r) {
        r.stream = stream;
        r.object = object;
        r.other = other;
        r.size = status;
        r.extra = reinterpret_cast<std::uint64_t>(p.function);
    };
    recorded_call call = recorded_call::enter<traits>();
    call.mark_begin<traits>(operands);
    ++ring.callbacks;
    run();
    --ring.callbacks;
    if (call.recording()) call.leave<traits>(0, __builtin_frame_address(0), __builtin_return_address(0), operands);
}

std::uint64_t number(void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

void run_host_function(pair const& p) {
    record<hooks::abi::callback_host_function>(p, number(p.argument), 0, 0, 0,
                                               [&] { reinterpret_cast<CUhostFn>(p.function)(p.argument); });
}

}  // namespace

pair* make_once(void* function, void* argument) {
    return take(function, argument);
}

pair* intern(void* function, void* argument) {
    auto* const known = table();
    if (known == nullptr) return nullptr;
    std::uint64_t const mixed = (number(function) * 0x9e3779b97f4a7c15u) ^ (number(argument) * 0xc2b2ae3d27d4eb4fu);
    pair* mine = nullptr;
    for (std::uint32_t probe = 0; probe < 256; ++probe) {
        auto& place = known[(static_cast<std::uint32_t>(mixed >> 40) + probe) % interned_size];
        std::uint32_t found = place.load(std::memory_order_acquire);
        if (found == 0) {
            if (mine == nullptr) mine = take(function, argument);
            if (mine == nullptr) return nullptr;
            if (place.compare_exchange_strong(found, mine->index + 1, std::memory_order_acq_rel)) return mine;
        }
        pair* const other = at(found - 1);
        if (other->function != function || other->argument != argument) continue;
        if (mine != nullptr) give_back(mine);
        return other;
    }
    if (mine != nullptr) give_back(mine);
    process::count(spool::loss::callbacks_unwrapped);
    return nullptr;
}

void give_back(pair* p) {
    std::uint64_t head = free_pairs.load(std::memory_order_relaxed);
    do {
        __atomic_store_n(&p->next, static_cast<std::uint32_t>(head), __ATOMIC_RELAXED);
    } while (!free_pairs.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | p->index, std::memory_order_acq_rel,
                                               std::memory_order_relaxed));
}

// Given back before the program's function runs: that may end the thread, or never return.
void user_object_destroyed(void* argument) {
    pair const p = *static_cast<pair*>(argument);
    give_back(static_cast<pair*>(argument));
    record<hooks::abi::callback_user_object>(p, p.object, number(p.argument), 0, 0,
                                             [&] { reinterpret_cast<CUhostFn>(p.function)(p.argument); });
}

void host_function_once(void* argument) {
    pair const p = *static_cast<pair*>(argument);
    give_back(static_cast<pair*>(argument));
    run_host_function(p);
}

void host_function_in_graph(void* argument) {
    run_host_function(*static_cast<pair*>(argument));
}

void stream_callback(CUstream stream, CUresult status, void* argument) {
    pair const p = *static_cast<pair*>(argument);
    give_back(static_cast<pair*>(argument));
    record<hooks::abi::callback_stream>(
        p, number(p.argument), 0, number(stream), static_cast<std::uint64_t>(status),
        [&] { reinterpret_cast<CUstreamCallback>(p.function)(stream, status, p.argument); });
}

void unwrap(CUhostFn& function, void*& argument) {
    if (function != host_function_in_graph && function != host_function_once) return;
    pair const& p = *static_cast<pair*>(argument);
    function = reinterpret_cast<CUhostFn>(p.function);
    argument = p.argument;
}

}  // namespace lastref::preload::callbacks
