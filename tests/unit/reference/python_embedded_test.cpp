// The queue and a real CPython, embedded. Each test has an interpreter of its own, from its start to its end.
#include <gtest/gtest.h>

#include "lastref/reference/python/pending_call_waker.h"
//
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kept_queue.h"

namespace lastref::reference {
namespace {

struct interpreter_test : ::testing::Test {
    interpreter_test() { Py_InitializeEx(0); }
    ~interpreter_test() override { finalize(); }

    void finalize() {
        if (Py_IsInitialized()) Py_FinalizeEx();
    }

    struct payload {
        explicit payload(std::function<void()> body) : run(std::move(body)) {}
        payload(payload&&) noexcept = default;
        ~payload() {
            if (run) run();
        }
        std::function<void()> run;
    };

    void enqueue(std::function<void()> run) { queue.enqueue(make_cleanup_ticket(payload(std::move(run))).release()); }

    // As CUDA does it: on a thread that Python does not know.
    void enqueue_elsewhere(int count) {
        std::thread([&] {
            for (int i = 0; i < count; ++i)
                enqueue([this] {
                    ++cleaned;
                    all_on_main_thread &= std::this_thread::get_id() == main_thread && PyGILState_Check();
                });
        }).join();
    }

    // Runs Python code that gives the GIL up once, as programs do whenever they wait for something, and then loops long
    // enough for the evaluation loop to look for pending calls.
    void run_python(char const* code = "import time; time.sleep(0)\nfor _ in range(1000): pass") {
        ASSERT_EQ(PyRun_SimpleString(code), 0);
    }

    static int nothing(void*) { return 0; }
    // Takes every place in CPython's queue; returns how many there were.
    static int saturate() {
        int taken = 0;
        while (Py_AddPendingCall(&nothing, nullptr) == 0) ++taken;
        return taken;
    }

    pending_call_waker& wakes = *new pending_call_waker;
    deferred_cleanup_queue& queue = testing::kept_queue(wakes);
    std::thread::id const main_thread = std::this_thread::get_id();
    int cleaned = 0;
    bool all_on_main_thread = true;
};

TEST_F(interpreter_test, more_callbacks_than_cpython_takes_pending_calls) {
    ASSERT_TRUE(wakes.install(queue));
    enqueue_elsewhere(100);
    EXPECT_EQ(queue.counts().wakeups, 1u);
    EXPECT_EQ(cleaned, 0) << "nothing may run on the callback's thread";
    run_python();
    EXPECT_EQ(cleaned, 100);
    EXPECT_TRUE(all_on_main_thread);
}

// CPython 3.11 does not tell the main thread's evaluation loop about a call that another thread has added; the main
// thread sees it when it next takes the GIL. Should this test fail with a newer version, the page
// docs/reference/wakers.md is out of date.
TEST_F(interpreter_test, up_to_3_11_the_main_thread_notices_when_it_next_takes_the_gil) {
    if (PY_VERSION_HEX >= 0x030C0000) GTEST_SKIP() << "CPython " << PY_VERSION;
    ASSERT_TRUE(wakes.install(queue));
    enqueue_elsewhere(1);
    run_python("for _ in range(100000): pass");
    EXPECT_EQ(cleaned, 0);
    run_python();
    EXPECT_EQ(cleaned, 1);
}

TEST_F(interpreter_test, a_queue_that_others_have_filled) {
    ASSERT_TRUE(wakes.install(queue));
    int const places = saturate();
    EXPECT_TRUE(places == 31 || places == 32) << places;
    enqueue_elsewhere(40);
    EXPECT_EQ(queue.counts().refusals, 40u);
    EXPECT_FALSE(queue.is_scheduled());
    run_python();
    EXPECT_EQ(cleaned, 0) << "nobody asked again yet";
    EXPECT_TRUE(queue.retry());
    run_python();
    EXPECT_EQ(cleaned, 40);
    EXPECT_TRUE(all_on_main_thread);
}

TEST_F(interpreter_test, the_next_callback_makes_a_refused_wake_up_good) {
    ASSERT_TRUE(wakes.install(queue));
    saturate();
    enqueue_elsewhere(3);
    run_python();
    enqueue_elsewhere(1);
    run_python();
    EXPECT_EQ(cleaned, 4);
}

TEST_F(interpreter_test, only_the_main_thread_drains) {
    ASSERT_TRUE(wakes.install(queue));
    enqueue_elsewhere(1);
    // The main thread waits without running Python code, other threads run plenty of it.
    std::thread other;
    Py_BEGIN_ALLOW_THREADS;
    other = std::thread([] {
        auto const state = PyGILState_Ensure();
        PyRun_SimpleString("for _ in range(100000): pass");
        PyGILState_Release(state);
    });
    other.join();
    Py_END_ALLOW_THREADS;
    EXPECT_EQ(cleaned, 0);
    run_python();
    EXPECT_EQ(cleaned, 1);
    EXPECT_TRUE(all_on_main_thread);
}

TEST_F(interpreter_test, producers_while_python_runs) {
    ASSERT_TRUE(wakes.install(queue));
    std::atomic<int> done{0};
    std::vector<std::thread> producers;
    for (int p = 0; p < 4; ++p)
        producers.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) enqueue([this] { ++cleaned; });
            ++done;
        });
    while (done.load() < 4) run_python();
    for (auto& thread : producers) thread.join();
    queue.retry();
    run_python();
    EXPECT_EQ(cleaned, 8000);
}

TEST_F(interpreter_test, a_clean_up_may_run_python_and_its_exception_is_not_lost) {
    ASSERT_TRUE(wakes.install(queue));
    run_python("import sys; seen = []; sys.unraisablehook = lambda u: seen.append(u.exc_type)");
    enqueue([] { PyErr_SetString(PyExc_ValueError, "from a clean-up"); });
    run_python();
    run_python("assert seen == [ValueError], seen");
}

TEST_F(interpreter_test, what_is_queued_when_the_interpreter_exits_is_cleaned_up_and_what_comes_later_is_leaked) {
    ASSERT_TRUE(wakes.install(queue));
    enqueue_elsewhere(50);
    finalize();
    EXPECT_EQ(cleaned, 50);
    EXPECT_TRUE(all_on_main_thread);
    EXPECT_TRUE(queue.is_stopped());
    enqueue_elsewhere(3);
    EXPECT_EQ(cleaned, 50);
    EXPECT_EQ(queue.leaked(), 3u);
}

TEST_F(interpreter_test, what_is_queued_behind_a_full_queue_is_cleaned_up_at_exit) {
    ASSERT_TRUE(wakes.install(queue));
    saturate();
    enqueue_elsewhere(5);
    finalize();
    EXPECT_EQ(cleaned, 5);
}

TEST_F(interpreter_test, what_the_interpreters_own_teardown_releases_is_leaked) {
    ASSERT_TRUE(wakes.install(queue));
    static interpreter_test* self;
    self = this;
    PyObject* const capsule = PyCapsule_New(this, nullptr, [](PyObject*) { self->enqueue([] { ++self->cleaned; }); });
    PyObject_SetAttrString(PyImport_AddModule("__main__"), "kept", capsule);
    Py_DECREF(capsule);
    finalize();
    EXPECT_EQ(cleaned, 0);
    EXPECT_EQ(queue.leaked(), 1u);
}

// Callbacks go on through the whole end of the interpreter.
TEST_F(interpreter_test, producers_while_the_interpreter_exits) {
    ASSERT_TRUE(wakes.install(queue));
    static std::atomic<bool> ends;
    static std::atomic<int> counted;
    ends = false;
    counted = 0;
    std::atomic<int> enqueued{0};
    std::thread producer([&] {
        while (!ends.load()) {
            enqueue([] { counted.fetch_add(1); });
            ++enqueued;
            std::this_thread::yield();
        }
    });
    while (enqueued.load() < 100) run_python();
    finalize();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ends = true;
    producer.join();
    EXPECT_EQ(static_cast<std::size_t>(counted.load()) + queue.leaked(), static_cast<std::size_t>(enqueued.load()));
    EXPECT_GT(queue.leaked(), 0u);
}

TEST_F(interpreter_test, a_sub_interpreter_is_refused) {
    PyThreadState* const main_state = PyThreadState_Get();
    PyThreadState* const sub = Py_NewInterpreter();
    ASSERT_NE(sub, nullptr);
    EXPECT_FALSE(wakes.install(queue));
    EXPECT_TRUE(PyErr_ExceptionMatches(PyExc_ImportError));
    PyErr_Clear();
    Py_EndInterpreter(sub);
    PyThreadState_Swap(main_state);
    EXPECT_TRUE(wakes.install(queue));
}

TEST_F(interpreter_test, a_wake_up_that_ends_in_a_sub_interpreter_is_declined) {
    ASSERT_TRUE(wakes.install(queue));
    PyThreadState* const main_state = PyThreadState_Get();
    PyThreadState* const sub = Py_NewInterpreter();
    ASSERT_NE(sub, nullptr);
    enqueue_elsewhere(3);  // the sub-interpreter holds the GIL: up to 3.11 CPython gives it the call
    run_python();
    EXPECT_EQ(cleaned, 0);
    Py_EndInterpreter(sub);
    PyThreadState_Swap(main_state);
    queue.retry();
    run_python();
    EXPECT_EQ(cleaned, 3);
    EXPECT_EQ(queue.counts().refusals, PY_VERSION_HEX < 0x030C0000 ? 1u : 0u);
}

TEST_F(interpreter_test, refuses_before_it_is_installed) {
    enqueue_elsewhere(2);
    EXPECT_EQ(queue.counts().refusals, 2u);
    ASSERT_TRUE(wakes.install(queue));
    EXPECT_TRUE(queue.is_scheduled()) << "install makes it good";
    run_python();
    EXPECT_EQ(cleaned, 2);
}

}  // namespace
}  // namespace lastref::reference
