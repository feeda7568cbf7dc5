// User objects whose destructors count, and graphs that hold them.
#pragma once

#include "questions.h"

namespace lastref::conformance {

struct payload {
    std::atomic<int> destroyed{0};
    std::thread::id thread;
};

inline void CUDA_CB destroy(void* data) {
    auto& what = *static_cast<payload*>(data);
    what.thread = std::this_thread::get_id();
    ++what.destroyed;
}

inline void CUDA_CB count(void* counter) {
    ++*static_cast<std::atomic<int>*>(counter);
}

inline void CUDA_CB nothing(void*) {}

// Payloads outlive every graph that might hold them.
inline payload& make_payload() {
    return *new payload;
}

inline CUuserObject make_object(payload& what, unsigned references = 1) {
    CUuserObject object = nullptr;
    ask("cuUserObjectCreate",
        cuUserObjectCreate(&object, &what, destroy, references, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

inline CUgraph make_graph_with_node() {
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    cuGraphCreate(&graph, 0);
    cuGraphAddEmptyNode(&node, graph, nullptr, 0);
    return graph;
}

// A graph to which the caller's references of a new object have moved.
inline CUgraph holding(payload& what, unsigned references = 1, CUuserObject* object = nullptr) {
    CUgraph const graph = make_graph_with_node();
    CUuserObject const made = make_object(what, references);
    ask("cuGraphRetainUserObject, moved", cuGraphRetainUserObject(graph, made, references, CU_GRAPH_USER_OBJECT_MOVE));
    if (object) *object = made;
    return graph;
}

inline void destroyed_is(char const* question, payload const& what, int expected_if_any = 1) {
    // A destructor has two seconds to come; where none is due, the wait is short.
    int const count =
        expected_if_any ? eventually(what.destroyed, expected_if_any) : (settle(60), what.destroyed.load());
    ask_number(question, count);
    if (count > 0) ask((std::string(question) + ": on this thread").c_str(), what.thread == std::this_thread::get_id());
}

}  // namespace lastref::conformance
