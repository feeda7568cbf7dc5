// What the program says through NVTX, as records of the calling thread's ring.
//
// A process that makes no driver call leaves no trace for NVTX's sake: until it records, ranges that are open are kept,
// and are written when recording begins; marks are not.
#pragma once

#include <cstdint>

#include "collector/nvtx/names.h"
#include "collector/preload/record/ring.h"
#include "schema/spool.h"

namespace lastref::nvtx {

struct saying {
    std::uint32_t domain = names::default_domain;
    std::uint32_t category = 0;
    text message;
    spool::nvtx_payload payload_kind = spool::nvtx_payload::none;
    std::uint64_t payload = 0;
};

void mark(saying const& what);
// Both return the level of the range, counted from 0; a negative number where none was open.
int push(saying const& what);
int pop(std::uint32_t domain);
// `number` names the range from now on.
void start(saying const& what, std::uint64_t number);
void end(std::uint64_t number);
// A number for a range that no other tool has numbered; it looks like no other tool's.
std::uint64_t new_number();
bool is_own_number(std::uint64_t number);
void name(spool::nvtx_resource resource, std::uint64_t number, text const& called);

// Writes what was open before the thread's first record, and what belongs to no thread.
void introduce(preload::thread_ring& r);
void forget_parent();

}  // namespace lastref::nvtx
