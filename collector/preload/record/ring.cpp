#include "collector/preload/record/ring.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "collector/nvtx/record.h"
#include "collector/preload/driver/dlsym.h"
#include "collector/preload/record/stack.h"

namespace lastref::preload {

constinit thread_local thread_ring ring{};

namespace rings {
namespace {

pthread_key_t end_of_thread;
bool key_made = false;
decltype(&pthread_setspecific) set_specific = nullptr;

std::uint32_t own_tid() {
    return static_cast<std::uint32_t>(syscall(SYS_gettid));
}

bool claim(std::uint32_t index) {
    auto expected = static_cast<std::uint32_t>(spool::thread_state::unused);
    auto& state = process::thread_slot(index)->state;
    return state.load(std::memory_order_relaxed) == expected &&
           state.compare_exchange_strong(expected, static_cast<std::uint32_t>(spool::thread_state::claimed),
                                         std::memory_order_acq_rel);
}

// A thread slot that is nobody's, or max_threads. Slots of ended threads become free again when the drain has read
// them.
std::uint32_t claim_slot(spool::spool_header& header) {
    std::uint32_t const known = header.thread_slots_used.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < known; ++i) {
        if (claim(i)) return i;
    }
    for (;;) {
        std::uint32_t const fresh = header.thread_slots_used.load(std::memory_order_acquire);
        if (fresh >= spool::max_threads || !process::back_thread_slot(fresh)) return spool::max_threads;
        std::uint32_t expected = fresh;
        header.thread_slots_used.compare_exchange_strong(expected, fresh + 1, std::memory_order_acq_rel);
        if (claim(fresh)) return fresh;
    }
}

// Makes `index` the thread's current segment. Whatever the drain needs is in place before the segment can be reached.
void enter_segment(thread_ring& r, std::uint32_t index) {
    spool::segment_header& header = *process::segment(index);
    tick_time const now = clock_sample();
    header.thread_slot = r.slot_index;
    header.serial = process::the.header->next_segment_serial.fetch_add(1, std::memory_order_relaxed) + 1;
    header.thread_serial = r.slot->serial;
    header.order = r.order;
    header.tid = r.slot->tid;
    header.next.store(spool::no_segment, std::memory_order_relaxed);
    header.clock_ticks = now.ticks;
    header.clock_ns = now.ns;
    header.committed.store(1, std::memory_order_release);
    r.segment_serial = header.serial;
    r.base = reinterpret_cast<std::byte*>(&header);
    r.used = 1;
    r.next_stack = 1;
}

void write_thread_name(thread_ring& r) {
    char name[32] = {};
    if (process::confined()) return;
    if (prctl(PR_GET_NAME, name) == 0) write_text(r, spool::text_kind::thread_name, name, strlen(name));
}

bool start(thread_ring& r) {
    spool::spool_header& header = *process::the.header;
    std::uint32_t const index = claim_slot(header);
    if (index == spool::max_threads) {
        process::count(spool::loss::threads_unrecorded);
        return false;
    }
    spool::thread_slot& slot = *process::thread_slot(index);
    std::uint32_t const first = process::take_segment();
    if (first == spool::no_segment) {
        slot.state.store(static_cast<std::uint32_t>(spool::thread_state::unused), std::memory_order_release);
        process::count(spool::loss::records_dropped);
        return false;
    }
    slot.tid = own_tid();
    slot.serial = header.next_thread_serial.fetch_add(1, std::memory_order_relaxed) + 1;
    slot.order_hold.store(0, std::memory_order_relaxed);
    slot.call_begin.store(0, std::memory_order_relaxed);
    slot.call_api.store(0, std::memory_order_relaxed);
    slot.dropped.store(0, std::memory_order_relaxed);
    r.slot = &slot;
    r.slot_index = index;
    r.order = 0;
    r.fork_mark = *process::the.fork_mark;
    enter_segment(r, first);
    slot.first_segment.store(first, std::memory_order_relaxed);
    slot.state.store(static_cast<std::uint32_t>(spool::thread_state::live), std::memory_order_release);
    write_thread_name(r);
    // glibc calls the destructor again for a key that was set again meanwhile, a few rounds long; what a thread records
    // after the last round stays in a segment that the drain takes back when the thread is gone.
    if (key_made) set_specific(end_of_thread, &r);
    return true;
}

void end_thread(void* value) {
    auto& r = *static_cast<thread_ring*>(value);
    if (r.base == nullptr || r.fork_mark != *process::the.fork_mark || r.depth != 0) return;
    r.base = nullptr;
    stacks::forget(r);
    r.slot->state.store(static_cast<std::uint32_t>(spool::thread_state::ended), std::memory_order_release);
}

// Before glibc 2.34 it is a function of libpthread, which may come later than we do, with the driver at the latest.
template <class Function>
Function* of_libpthread(Function* linked, char const* name) {
    if (linked != nullptr || dlopen == nullptr) return linked;
    void* const library = dlopen("libpthread.so.0", RTLD_LAZY | RTLD_NOLOAD);
    return library != nullptr ? reinterpret_cast<Function*>(next_dlsym(library, name)) : nullptr;
}

}  // namespace

void prepare() {
    if (key_made) return;
    auto* const create = of_libpthread(pthread_key_create, "pthread_key_create");
    set_specific = of_libpthread(pthread_setspecific, "pthread_setspecific");
    key_made = create != nullptr && set_specific != nullptr && create(&end_of_thread, end_thread) == 0;
}

thread_ring* acquire_slowly(thread_ring& r) {
    if (r.base != nullptr) abandon();    // a child of a fork that ran no handlers: the ring is the parent's
    if (r.writing != 0) return nullptr;  // in a signal handler that interrupted the start of this thread's ring
    if (!process::ensure_recording()) return nullptr;
    // A thread that found no room tries again only now and then: trying costs system calls.
    if (r.unusable != 0 && --r.unusable != 0) {
        process::count(spool::loss::records_dropped);
        return nullptr;
    }
    int const saved = errno;
    r.writing = 1;
    bool const started = start(r);
    if (started) {
        process::introduce(r);
        nvtx::introduce(r);
    }
    r.writing = 0;
    errno = saved;
    r.unusable = started ? 0 : 200;
    return started ? &r : nullptr;
}

bool next_segment(thread_ring& r) {
    int const saved = errno;
    std::uint32_t const next = process::take_segment();
    errno = saved;
    if (next == spool::no_segment) return false;
    auto& full = *reinterpret_cast<spool::segment_header*>(r.base);
    ++r.order;
    enter_segment(r, next);
    full.next.store(next, std::memory_order_release);
    return true;
}

std::byte* room_slowly(thread_ring& r) {
    if (next_segment(r)) return r.base + std::size_t{r.used} * spool::slot_size;
    r.slot->dropped.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
}

void write_text(thread_ring& r, spool::text_kind kind, char const* text, std::size_t length) {
    std::uint16_t part = 0;
    do {
        std::size_t const here = length < spool::text_capacity ? length : spool::text_capacity;
        std::size_t const first = sizeof(spool::text_record::text);
        std::uint32_t const slots = 1 + static_cast<std::uint32_t>(here > first ? (here - first + 63) / 64 : 0);
        std::byte* const place = room(r, slots);
        if (place == nullptr) return;
        spool::text_record head{};
        head.kind = kind;
        head.type = spool::record_type::text;
        head.slots = static_cast<std::uint8_t>(slots);
        head.length = static_cast<std::uint16_t>(here);
        head.part = part++;
        head.last = here == length;
        memcpy(place, &head, offsetof(spool::text_record, text));
        memcpy(place + offsetof(spool::text_record, text), text, here);
        publish(r, slots);
        text += here;
        length -= here;
    } while (length != 0);
}

void write_phase(spool::phase what, std::uint32_t value) {
    thread_ring* const r = acquire();
    if (r == nullptr || r->writing != 0) return;
    std::byte* const place = room(*r, 1);
    if (place == nullptr) return;
    // The drain must write nothing later meanwhile: see record/call.h.
    auto& hold = r->slot->order_hold;
    bool const holds = hold.load(std::memory_order_relaxed) == 0;
    if (holds) hold.store(r->last_stamp | 1, std::memory_order_release);
    spool::phase_record record{};
    record.what = what;
    record.type = spool::record_type::phase;
    record.slots = 1;
    record.value = value;
    record.at = now_ticks();
    memcpy(place, &record, sizeof record);
    publish(*r, 1);
    r->last_stamp = record.at;
    if (holds) hold.store(0, std::memory_order_release);
}

void abandon() {
    thread_ring& r = ring;
    stacks::forget(r);
    std::uint32_t const depth = r.depth;
    std::uint32_t const callbacks = r.callbacks;
    r = thread_ring{};
    // A fork inside a callback: the calls around it still return in the child and count down.
    r.depth = depth;
    r.callbacks = callbacks;
}

}  // namespace rings
}  // namespace lastref::preload

// For liblastref_cupti.so, which finds it by name: a driver call that CUPTI tells of while none is open did not come
// through the hooks.
extern "C" __attribute__((visibility("default"))) unsigned lastref_open_calls() {
    return lastref::preload::ring.depth;
}
