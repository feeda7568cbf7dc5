// A queue that outlives its test, as in a program: what a stopped queue leaks stays reachable, so that the leak
// sanitizer still finds every item that is really lost.
#pragma once

#include <deque>

#include "lastref/reference/deferred_cleanup_queue.h"

namespace lastref::reference::testing {

template <typename... Arguments>
deferred_cleanup_queue& kept_queue(Arguments&&... arguments) {
    static auto& queues = *new std::deque<deferred_cleanup_queue>;
    return queues.emplace_back(std::forward<Arguments>(arguments)...);
}

}  // namespace lastref::reference::testing
