#include "tests/simdriver/core/capture.h"

#include <algorithm>

#include "tests/simdriver/core/driver.h"
#include "tests/simdriver/core/streams.h"

namespace lastref::simdriver {
namespace {

std::vector<capture_ptr>& running() {
    static auto* const all = new std::vector<capture_ptr>;
    return *all;
}

void leave(stream& member) {
    member.capturing = nullptr;
    member.frontier.clear();
}

void finish(capture_ptr const& ending) {
    for (auto const& each : ending->members)
        if (auto const member = each.lock(); member && member->capturing == ending) leave(*member);
    std::erase(running(), ending);
}

void join(stream_ptr const& on, capture_ptr const& to) {
    on->capturing = to;
    to->members.push_back(on);
}

// Every node that another stream captured last must lead to what the origin captured last.
bool all_joined(capture const& ending) {
    auto const& ends = ending.origin->frontier;
    auto const joined = [&ends](node_ptr const& last) {
        return std::any_of(ends.begin(), ends.end(), [&](node_ptr const& end) { return reaches(*last, *end); });
    };
    return std::all_of(ending.members.begin(), ending.members.end(), [&](std::weak_ptr<stream> const& each) {
        auto const member = each.lock();
        return !member || std::all_of(member->frontier.begin(), member->frontier.end(), joined);
    });
}

bool forbids(capture const& other, thread_state const& self) {
    if (other.mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
    if (other.thread == self.id) return self.capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return other.mode == CU_STREAM_CAPTURE_MODE_GLOBAL && self.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

std::vector<edge> edges_after(stream const& on) {
    std::vector<edge> after;
    for (std::size_t index = 0; index < on.frontier.size(); ++index)
        after.push_back({on.frontier[index].get(),
                         index < on.frontier_edges.size() ? on.frontier_edges[index] : CUgraphEdgeData{}});
    return after;
}

CUresult end_result(capture const& ending, stream const& on, thread_state const& self) {
    if (ending.origin != &on) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (ending.mode != CU_STREAM_CAPTURE_MODE_RELAXED && ending.thread != self.id)
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (ending.invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return all_joined(ending) && !ending.lost_a_member ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

bool captures_into(graph const& into) {
    return std::any_of(running().begin(), running().end(),
                       [&into](capture_ptr const& each) { return each->into.get() == &into; });
}

}  // namespace

CUresult begin_capture(call const& c, stream_ptr const& on, CUstreamCaptureMode mode, graph_ptr const& into,
                       std::vector<edge> const& after) {
    static std::uint64_t last_id = 0;
    if (on->kind == stream::role::legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (on->capturing || (into && captures_into(*into))) return CUDA_ERROR_ILLEGAL_STATE;
    auto made = std::make_shared<capture>();
    made->id = ++last_id;
    made->into = into ? into : make_graph();
    made->origin = on.get();
    made->mode = mode;
    made->thread = c.self.id;
    join(on, made);
    for (auto const& each : after) {
        on->frontier.push_back(nodes().find(each.from->handle));
        on->frontier_edges.push_back(each.data);
    }
    running().push_back(made);
    return CUDA_SUCCESS;
}

CUresult end_capture(call const& c, stream& on, CUgraph& out) {
    out = nullptr;
    capture_ptr const ending = on.capturing;
    if (!ending) return CUDA_ERROR_ILLEGAL_STATE;
    CUresult const result = end_result(*ending, on, c.self);
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED) {
        ending->invalidated = true;
        return result;
    }
    if (result == CUDA_SUCCESS) out = ending->into->handle;
    // Measured: the program's own graph goes too when a capture into it fails.
    if (result != CUDA_SUCCESS) destroy_graph(ending->into);
    finish(ending);
    return result;
}

CUresult unsafe(call const& c) {
    bool refused = false;
    for (auto const& each : running()) {
        if (!forbids(*each, c.self)) continue;
        each->invalidated = true;
        refused = true;
    }
    return refused ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult implicit_dependency(stream const& on, bool breaks) {
    if (on.kind != stream::role::legacy) return CUDA_SUCCESS;
    bool implied = false;
    for (auto const& each : running()) {
        for (auto const& weak : each->members) {
            auto const member = weak.lock();
            if (!member || !member->blocking() || member->owner.lock() != on.owner.lock()) continue;
            each->invalidated = each->invalidated || breaks;
            implied = true;
        }
    }
    return implied ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
}

CUresult forbid_capturing(stream& on) {
    if (!on.capturing) return implicit_dependency(on);
    on.capturing->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

void drop_capture(stream& gone) {
    capture_ptr const of = gone.capturing;
    if (!of) return;
    if (of->origin != &gone) {
        of->lost_a_member = true;
        return leave(gone);
    }
    destroy_graph(of->into);
    finish(of);
}

CUresult capture_work(stream& on, work what, node_ptr* made) {
    if (on.capturing->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    node_ptr const added = add_node(*on.capturing->into, std::move(what), edges_after(on));
    on.frontier = {added};
    on.frontier_edges.clear();
    if (made) *made = added;
    return CUDA_SUCCESS;
}

void capture_record(stream& on, event& what) {
    what.captured = true;
    what.captured_in = on.capturing;
    what.captured_after = on.frontier;
}

CUresult capture_wait(stream_ptr const& on, event const& what) {
    capture_ptr const from = what.captured ? what.captured_in.lock() : nullptr;
    if (what.captured && !from) {  // its capture has ended
        if (on->capturing) on->capturing->invalidated = true;
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!from) {  // a capturing stream waits for work outside the capture
        on->capturing->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (on->capturing && on->capturing != from) {
        on->capturing->invalidated = from->invalidated = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (from->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!on->capturing) join(on, from);
    for (auto const& each : what.captured_after)
        if (std::find(on->frontier.begin(), on->frontier.end(), each) == on->frontier.end())
            on->frontier.push_back(each);
    return CUDA_SUCCESS;
}

CUresult enqueue(call const&, stream_ptr const& on, work what, operation_ptr* made) {
    if (on->capturing) return capture_work(*on, std::move(what));
    if (CUresult const result = implicit_dependency(*on); result != CUDA_SUCCESS) return result;
    prepared ready = prepare(what);
    submit(*on, ready.work, std::move(ready.also_after));
    if (made) *made = ready.work;
    return CUDA_SUCCESS;
}

}  // namespace lastref::simdriver
