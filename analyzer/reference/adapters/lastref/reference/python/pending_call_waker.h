// Brings a deferred_cleanup_queue to Python's main thread, by a pending call.
//
// Why not one pending call for each item: CPython takes 31 (up to 3.12) or 32 (3.13 and later, free-threaded builds
// too) outstanding calls and refuses more with -1. A queue of its own cannot be full; the one call that it asks for can
// be refused and is asked for again.
//
// Works with CPython 3.9 and later, free-threaded builds included: Py_AddPendingCall needs neither the GIL nor a thread
// state.
#pragma once

#include <Python.h>

#include <atomic>
#include <thread>

#include "lastref/reference/deferred_cleanup_queue.h"
#include "lastref/reference/waker.h"

namespace lastref::reference {

// Ownership   Lives as long as the process, as its queue does. Not for a second life of the interpreter: once it was
// finalized,
//             queue and waker stay shut.
// Threads     wake: any thread, with or without the GIL. install and shut_down: with the GIL, in the main interpreter.
// Clean-ups run
//             on the main thread, with the GIL (or attached, in a free-threaded build).
// Errors      install reports by a Python exception. wake refuses when CPython's queue is full, before install, and
// from the
//             moment of shut_down on. An exception that a clean-up leaves behind is reported as unraisable.
// Sub-interpreters  Refused: install raises ImportError there. CPython 3.9 to 3.11 gives a pending call to whichever
// interpreter
//             holds the GIL at that moment; one that ends in a sub-interpreter is declined, and the items wait for the
//             next enqueue or retry.
class pending_call_waker final : public waker {
  public:
    pending_call_waker() noexcept = default;

    // Opens the waker and has it shut down when the interpreter exits. Call it when the module is imported. True, or
    // false with a Python exception set.
    bool install(deferred_cleanup_queue& queue) noexcept {
        if (!in_main_interpreter()) {
            PyErr_SetString(PyExc_ImportError, "deferred CUDA clean-up runs in the main interpreter only");
            return false;
        }
        if (queue_) return true;
        queue_ = &queue;
        if (!register_at_exit()) {
            queue_ = nullptr;
            return false;
        }
        gate_.fetch_and(~closed, std::memory_order_release);
        queue.retry();
        return true;
    }

    // A producer that is inside is counted, so that shut_down can wait until no one calls into the interpreter any
    // more.
    bool wake(deferred_cleanup_queue& queue) noexcept override {
        bool const open = !(gate_.fetch_add(1, std::memory_order_acquire) & closed);
        bool const accepted = open && Py_AddPendingCall(&deliver, &queue) == 0;
        gate_.fetch_sub(1, std::memory_order_release);  // pairs with shut_down
        return accepted;
    }

    // What atexit calls, while Python code can still run: the last clean-up, then the end. What the interpreter's own
    // teardown releases later is leaked on purpose. Waits for producers that are inside Py_AddPendingCall, which needs
    // no GIL, so that it cannot wait for us.
    void shut_down() noexcept {
        queue_->drain_unscheduled();
        report_exception();
        queue_->stop();
        gate_.fetch_or(closed, std::memory_order_acquire);
        while (gate_.load(std::memory_order_acquire) != closed) std::this_thread::yield();
    }

  private:
    static constexpr unsigned closed = 1u << 31;

    static bool in_main_interpreter() noexcept { return PyInterpreterState_Get() == PyInterpreterState_Main(); }

    static bool is_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
        return Py_IsFinalizing();
#else
        return _Py_IsFinalizing();
#endif
    }

    static int deliver(void* argument) noexcept {
        auto& queue = *static_cast<deferred_cleanup_queue*>(argument);
        if (is_finalizing()) queue.stop();
        if (!in_main_interpreter()) {
            queue.decline();
            return 0;
        }
        queue.drain();
        report_exception();
        return 0;
    }

    static void report_exception() noexcept {
        if (PyErr_Occurred()) PyErr_WriteUnraisable(nullptr);
    }

    // The module `atexit`, not Py_AtExit: the latter runs when the interpreter is gone, and a producer that had just
    // found it alive would call into what no longer exists.
    bool register_at_exit() noexcept {
        static PyMethodDef method{"lastref_reference_shut_down", &call_shut_down, METH_NOARGS, nullptr};
        PyObject* const self = PyCapsule_New(this, nullptr, nullptr);
        PyObject* const function = self ? PyCFunction_New(&method, self) : nullptr;
        PyObject* const atexit = function ? PyImport_ImportModule("atexit") : nullptr;
        PyObject* const result = atexit ? PyObject_CallMethod(atexit, "register", "O", function) : nullptr;
        bool const registered = result;
        Py_XDECREF(result);
        Py_XDECREF(atexit);
        Py_XDECREF(function);
        Py_XDECREF(self);
        return registered;
    }

    static PyObject* call_shut_down(PyObject* self, PyObject*) noexcept {
        static_cast<pending_call_waker*>(PyCapsule_GetPointer(self, nullptr))->shut_down();
        Py_RETURN_NONE;
    }

    std::atomic<unsigned> gate_{closed};  // producers inside wake(), and `closed`
    deferred_cleanup_queue* queue_ = nullptr;
};

}  // namespace lastref::reference
