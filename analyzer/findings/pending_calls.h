// Deferred release through CPython's pending calls, in words.
#pragma once

#include "analyzer/model/pending_calls.h"

#include <string>
#include <vector>

namespace lastref::findings {

// One sentence or two for the calls of each function that a callback of the driver's asked for or in which memory was
// freed, and one for all the others together.
std::vector<std::string> pending_call_sentences(store::trace const& trace,
                                                std::vector<model::pending_function> const& functions);

}  // namespace lastref::findings
