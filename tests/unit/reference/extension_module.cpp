// The queue as libraries use it: inside an extension module that a real interpreter loads. extension_test.py drives it.
#include "lastref/reference/python/pending_call_waker.h"
//
#include <thread>

#include "lastref/reference/process_lifetime.h"

namespace {

using namespace lastref::reference;

constinit process_lifetime<pending_call_waker> waker_of_module;
constinit process_lifetime<deferred_cleanup_queue> queue_of_module;

// Calls a Python function when it is destroyed, as a Python owner that a graph kept alive does.
class python_owner {
  public:
    explicit python_owner(PyObject* function) : function_(Py_NewRef(function)) {}
    python_owner(python_owner&& other) noexcept : function_(std::exchange(other.function_, nullptr)) {}
    ~python_owner() {
        if (!function_) return;
        Py_XDECREF(PyObject_CallNoArgs(function_));
        if (PyErr_Occurred()) PyErr_WriteUnraisable(function_);
        Py_DECREF(function_);
    }

  private:
    PyObject* function_;
};

int nothing(void*) {
    return 0;
}

// Takes every place in CPython's queue; returns how many there were.
long saturate() {
    long taken = 0;
    while (Py_AddPendingCall(&nothing, nullptr) == 0) ++taken;
    return taken;
}

// release_elsewhere(function, count, saturated=False): as CUDA's thread, which knows nothing of Python, `count`
// payloads that call `function`. `saturated`: CPython's queue is full of others' calls all the while; returns how many.
// (In one call, since the evaluation loop empties it between two.)
PyObject* release_elsewhere(PyObject*, PyObject* arguments) {
    PyObject* function;
    int count;
    int saturated = false;
    if (!PyArg_ParseTuple(arguments, "Oi|p", &function, &count, &saturated)) return nullptr;
    long const places = saturated ? saturate() : 0;
    for (int i = 0; i < count; ++i) {
        auto* const item = make_cleanup_ticket(python_owner(function)).release();
        std::thread([item] { enqueue_cleanup<queue_of_module>(item); }).join();
    }
    return PyLong_FromLong(places);
}

PyObject* retry(PyObject*, PyObject*) {
    return PyBool_FromLong(queue_of_module.get()->retry());
}
PyObject* leaked(PyObject*, PyObject*) {
    return PyLong_FromSize_t(queue_of_module.get()->leaked());
}
PyObject* counts(PyObject*, PyObject*) {
    auto const counted = queue_of_module.get()->counts();
    return Py_BuildValue("{s:n,s:n,s:n}", "wakeups", static_cast<Py_ssize_t>(counted.wakeups), "refusals",
                         static_cast<Py_ssize_t>(counted.refusals), "cleaned",
                         static_cast<Py_ssize_t>(counted.cleaned));
}

PyMethodDef methods[] = {
    {"release_elsewhere", release_elsewhere, METH_VARARGS, nullptr},
    {"retry", retry, METH_NOARGS, nullptr},
    {"leaked", leaked, METH_NOARGS, nullptr},
    {"counts", counts, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// Import holds the GIL (and the import lock), so publishing needs no more than process_lifetime's own order.
int publish(PyObject*) {
    if (!queue_of_module.get()) queue_of_module.emplace(waker_of_module.emplace());
    return waker_of_module.get()->install(*queue_of_module.get()) ? 0 : -1;
}

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(&publish)}, {0, nullptr}};

PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "lastref_reference_probe", nullptr, 0, methods, slots, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_lastref_reference_probe() {
    return PyModuleDef_Init(&definition);
}
