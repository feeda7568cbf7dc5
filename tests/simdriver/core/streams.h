// Streams: what a token means, in which order work runs, how one waits for it.
#pragma once

#include <vector>

#include "tests/simdriver/core/call.h"
#include "tests/simdriver/core/objects.h"

namespace lastref::simdriver {

stream_ptr make_stream(context& owner, stream::role kind, unsigned flags, int priority);

// The stream that a token or handle means on this thread. 201: a default-stream token without a current context; 709:
// its context is destroyed; 400: no such stream. A created stream carries its context, so that none need be current.
CUresult resolve(call const& c, CUstream token, stream_ptr& out);

// What the stream's next operation has to wait for. Legacy: all blocking streams of the context; blocking streams: the
// legacy stream as well as their own work; non-blocking streams: their own work only.
std::vector<operation_ptr> before_next(stream const& on);
// Puts an operation at the stream's end, with further things it waits for.
void submit(stream& on, operation_ptr const& work, std::vector<operation_ptr> also_after = {});

// All streams of a context, and the last work of each and of destroyed ones.
std::vector<stream_ptr> streams_of(context const& owner);
std::vector<operation_ptr> work_of(context const& owner);

// The stream is gone: its unfinished work stays with the context.
void leave_behind(context& owner, stream const& gone);

bool idle(stream const& on);
void wait_for(call const& c, operation_ptr const& work);
void synchronize(call const& c, stream& on);
void synchronize(call const& c, context& all);
// Like cuMemFree and others that wait for everything on a device.
void synchronize(call const& c, device const& all);

}  // namespace lastref::simdriver
