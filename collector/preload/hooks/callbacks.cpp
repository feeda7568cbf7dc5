#include "collector/preload/hooks/callbacks.h"

#include <sys/mman.h>

#include <atomic>

#include "collector/preload/record/call.h"

namespace lastref::preload::callbacks {
namespace {

// --- the slab: chunks of pairs, never unmapped
// -----------------------------------------------------------------------------
//
// A thread keeps a few free pairs to itself, and takes and gives them in batches: one list that all threads change
// would be what they wait for. The common list holds batches; its head carries a tag against a batch that comes back in
// between.

constexpr std::uint32_t pairs_in_chunk = 2048;
constexpr std::uint32_t max_chunks = 4096;  // 8 million pairs
constexpr std::uint32_t batch = 64;
static_assert(pairs_in_chunk % batch == 0);

std::atomic<pair*> chunks[max_chunks];
std::atomic<std::uint32_t> handed_out{0};    // pairs ever taken from chunks
std::atomic<std::uint64_t> free_batches{0};  // tag << 32 | index + 1 of the batch's first pair

pair* at(std::uint32_t index) {
    pair* const chunk = chunks[index / pairs_in_chunk].load(std::memory_order_acquire);
    return chunk + index % pairs_in_chunk;
}

bool back_chunk(std::uint32_t number) {
    if (chunks[number].load(std::memory_order_acquire) != nullptr) return true;
    if (process::confined()) return false;
    void* const memory =
        mmap(nullptr, sizeof(pair) * pairs_in_chunk, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    pair* expected = nullptr;
    if (!chunks[number].compare_exchange_strong(expected, static_cast<pair*>(memory), std::memory_order_acq_rel))
        munmap(memory, sizeof(pair) * pairs_in_chunk);
    return true;
}

// The first of `batch` linked pairs, or null.
pair* take_batch() {
    std::uint64_t head = free_batches.load(std::memory_order_acquire);
    for (;;) {
        auto const first = static_cast<std::uint32_t>(head);
        if (first == 0) return nullptr;
        std::uint32_t const next = __atomic_load_n(&at(first - 1)->next_batch, __ATOMIC_RELAXED);
        std::uint64_t const changed = ((head >> 32) + 1) << 32 | next;
        if (free_batches.compare_exchange_weak(head, changed, std::memory_order_acq_rel, std::memory_order_acquire))
            return at(first - 1);
    }
}

void give_batch(pair* first) {
    std::uint64_t head = free_batches.load(std::memory_order_relaxed);
    do {
        __atomic_store_n(&first->next_batch, static_cast<std::uint32_t>(head), __ATOMIC_RELAXED);
    } while (!free_batches.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | (first->index + 1),
                                                 std::memory_order_acq_rel, std::memory_order_relaxed));
}

pair* fresh_batch() {
    std::uint32_t const start = handed_out.fetch_add(batch, std::memory_order_relaxed);
    if (start >= pairs_in_chunk * max_chunks || !back_chunk(start / pairs_in_chunk)) {
        handed_out.fetch_sub(batch, std::memory_order_relaxed);
        return nullptr;
    }
    for (std::uint32_t i = 0; i < batch; ++i) {
        pair* const p = at(start + i);
        p->index = start + i;
        p->next = i + 1 < batch ? start + i + 2 : 0;
    }
    return at(start);
}

pair* take(void* function, void* argument) {
    thread_ring& r = ring;
    if (r.first_free_pair == 0) {
        pair* first = take_batch();
        if (first == nullptr) first = fresh_batch();
        if (first == nullptr) {
            process::count(spool::loss::callbacks_unwrapped);
            return nullptr;
        }
        r.first_free_pair = first->index + 1;
        r.free_pairs = batch;
    }
    pair* const p = at(r.first_free_pair - 1);
    r.first_free_pair = p->next;
    --r.free_pairs;
    p->function = function;
    p->argument = argument;
    p->object = 0;
    return p;
}

// Cuts a whole batch off the thread's own list.
void spill(thread_ring& r) {
    pair* const first = at(r.first_free_pair - 1);
    pair* last = first;
    for (std::uint32_t i = 1; i < batch; ++i) last = at(last->next - 1);
    r.first_free_pair = last->next;
    r.free_pairs -= batch;
    last->next = 0;
    give_batch(first);
}

// --- pairs that graphs may keep: by (function, argument), insert only
// ------------------------------------------------------

constexpr std::uint32_t interned_size = 1u << 20;
std::atomic<std::uint32_t>* interned = nullptr;  // index + 1 of the pair, 0 = free

std::atomic<std::uint32_t>* table() {
    auto* known = __atomic_load_n(&interned, __ATOMIC_ACQUIRE);
    if (known != nullptr || process::confined()) return known;
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

// The file that a callback's function is in must be known for the function to be named, also if it never runs.
void note(void const* function) {
    if (thread_ring* const r = rings::acquire(); r != nullptr) stacks::note_module(*r, function);
}

void run_host_function(pair const& p) {
    record<hooks::abi::callback_host_function>(p, number(p.argument), 0, 0, 0,
                                               [&] { reinterpret_cast<CUhostFn>(p.function)(p.argument); });
}

}  // namespace

pair* make_once(void* function, void* argument) {
    note(function);
    return take(function, argument);
}

pair* intern(void* function, void* argument) {
    note(function);
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
    thread_ring& r = ring;
    p->next = r.first_free_pair;
    r.first_free_pair = p->index + 1;
    if (++r.free_pairs >= 2 * batch) spill(r);
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
