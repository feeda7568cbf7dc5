// Stream capture and how it interferes with other calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/simdriver/core/call.h"
#include "tests/simdriver/core/graphs.h"

namespace lastref::simdriver {

struct capture {
    std::uint64_t id = 0;
    graph_ptr into;
    stream* origin = nullptr;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::uint64_t thread = 0;
    bool invalidated = false;
    std::vector<std::weak_ptr<stream>> members;
    bool lost_a_member = false;  // destroyed before it was joined
};

CUresult begin_capture(call const& c, stream_ptr const& on, CUstreamCaptureMode mode, graph_ptr const& into,
                       std::vector<edge> const& after);
CUresult end_capture(call const& c, stream& on, CUgraph& out);

// Potentially unsafe calls (cuMemAlloc, cuEventQuery ...) are refused with 900, and break the capture that forbids
// them: one of this thread's that is not RELAXED, or a GLOBAL one of any thread, unless this thread has exchanged its
// mode.
CUresult unsafe(call const& c);
// 906 when work on the legacy stream would depend on a stream that is capturing; that capture is broken, unless it was
// only looked at.
CUresult implicit_dependency(stream const& on, bool breaks = true);
// 900, and the capture is broken, when a stream that is to be waited for or asked is capturing.
CUresult forbid_capturing(stream& on);

// A member of a capture is destroyed: the origin ends it, another stream is left unjoined.
void drop_capture(stream& gone);

// Adds a node after the stream's last ones, and makes it the last.
CUresult capture_work(stream& on, work what, node_ptr* made = nullptr);

void capture_record(stream& on, event& what);
CUresult capture_wait(stream_ptr const& on, event const& what);

// The one way for work to get onto a stream: runs it in order, or captures it.
CUresult enqueue(call const& c, stream_ptr const& on, work what, operation_ptr* made = nullptr);

}  // namespace lastref::simdriver
