#include "collector/preload/python/interpreter_phases.h"

#include "collector/preload/record/ring.h"

namespace lastref::preload::cpython {

interpreter the_interpreter;
std::atomic<add_pending_call_function> real_add_pending_call{nullptr};

namespace {

enum class stage : int { none, initialized, finalizing, finalized };
std::atomic<stage> known{stage::none};

// Py_IsFinalizing stays true after the end in some versions and not in others; the main interpreter is gone in all.
stage ask(stage before) {
    interpreter const& it = the_interpreter;
    if (it.is_finalizing != nullptr && it.is_finalizing() != 0)
        return it.main_state != nullptr && it.main_state() == nullptr ? stage::finalized : stage::finalizing;
    if (it.is_initialized() != 0) return stage::initialized;
    return before == stage::none ? stage::none : stage::finalized;
}

void write(stage reached) {
    using spool::phase;
    rings::write_phase(reached == stage::initialized  ? phase::python_initialized
                       : reached == stage::finalizing ? phase::python_finalizing
                                                      : phase::python_finalized);
}

}  // namespace

void note_phase() {
    stage before = known.load(std::memory_order_relaxed);
    stage const now = ask(before);
    if (now == before) [[likely]]
        return;
    if (process::the.current.load(std::memory_order_acquire) != process::state::recording || process::in_forked_child())
        return;
    thread_ring const* const r = rings::acquire();
    if (r == nullptr || r->writing != 0 || now == stage::none) return;
    if (!known.compare_exchange_strong(before, now, std::memory_order_acq_rel)) return;
    // What went by unseen is told too, so that each step stands in the trace; an end before the first look has no
    // begin.
    bool const from_start = before == stage::none || before == stage::finalized;
    if (from_start && now != stage::finalized) write(stage::initialized);
    if (now == stage::finalizing || (now == stage::finalized && before == stage::initialized)) write(stage::finalizing);
    if (now == stage::finalized) write(stage::finalized);
}

void forget_phase() {
    known.store(stage::none, std::memory_order_relaxed);
}

}  // namespace lastref::preload::cpython
