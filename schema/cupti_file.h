// What liblastref_cupti.so leaves beside a process's spool: `PID-START.cupti`, one file a process.
//
//     header (fixed size, mapped shared) | activity | activity | …
//
// The counts of calls stand in the header and are current at any instant, also after SIGKILL. Activities are appended
// in whole records whenever CUPTI hands over a buffer; `activities` counts those that are complete. Little-endian, read
// on the machine that wrote it. `format_version` changes whenever a reader of the older layout would misread the newer.
//
// The contract between collector/cupti (no libstdc++ at run time) and collector/drain: constants and trivial types
// only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace lastref::cupti_file {

inline constexpr std::uint64_t file_magic = 0x4954505543464552;  // "REFCUPTI" read as bytes
inline constexpr std::uint32_t format_version = 2;
inline constexpr std::uint32_t max_calls = 2048;  // CUPTI's numbers of driver calls; 13.0 knows some 800

// A driver call by CUPTI's number of it.
struct call_count {
    std::atomic<std::uint64_t> calls;   // entries that CUPTI reported
    std::atomic<std::uint64_t> failed;  // returns other than CUDA_SUCCESS and CUDA_ERROR_NOT_READY
    char name[112];                     // with ABI suffixes, zero-terminated; empty: CUPTI knows no such call
};
static_assert(sizeof(call_count) == 128);

// A module that called the driver past the hooks: the first few calls of each entry point are looked at.
struct stray_caller {
    std::atomic<std::uint32_t> ready;  // 1 once the rest is in place
    std::uint32_t call;                // CUPTI's number
    std::atomic<std::uint64_t> calls;
    char module[240];  // path, zero-terminated, cut where it is longer
};
static_assert(sizeof(stray_caller) == 256);
inline constexpr std::uint32_t max_stray_callers = 256;

enum class state : std::uint32_t {
    running = 1,     // counting; also what a killed process leaves
    flushed = 2,     // the exit handler ran: every activity that CUPTI had is in the file
    unavailable = 3  // CUPTI could not be used: nothing was counted, see `why`
};

struct header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_bytes;
    std::uint32_t pid;
    std::uint32_t cupti_version;
    std::uint64_t process_start;  // field 22 of /proc/PID/stat, as in the spool's name
    std::atomic<state> now;
    std::uint32_t with_activities;          // 1 where they were asked for
    std::atomic<std::uint64_t> activities;  // complete records behind the header
    std::atomic<std::uint64_t> dropped;     // that CUPTI reported as lost, or that the file had no room for
    char why[192];
    call_count counts[max_calls];
    std::atomic<std::uint32_t> stray_callers;  // entries taken
    std::uint32_t reserved;
    stray_caller strays[max_stray_callers];
};
inline constexpr std::uint32_t header_bytes = sizeof(header);

enum class activity_kind : std::uint8_t {
    call = 1,             // a driver call: ties `correlation` to thread and instant
    kernel = 2,           // outside of graphs
    copy = 3,             //
    set = 4,              //
    graph_launch = 5,     // the whole graph, from its first node's begin to its last one's end
    synchronization = 6,  //
    memory_alloc = 7,     // `end` is 0: an instant
    memory_free = 8,      //
    pool_create = 9,      //
    pool_destroy = 10,    //
    pool_trim = 11,       //
    runtime_call =
        12,  // a call of the CUDA runtime, which asked by driver calls of its own: as `call`, without `object`
};

// Times are CLOCK_MONOTONIC in nanoseconds.
struct activity {
    activity_kind kind;
    std::uint8_t detail;  // copy: CUpti_ActivityMemcpyKind; synchronization: its type; memory: the kind of memory
    std::uint16_t device;
    std::uint32_t correlation;  // of the driver call that asked for it
    std::uint64_t begin;
    std::uint64_t end;
    std::uint32_t context;  // CUPTI's numbers
    std::uint32_t stream;   //
    std::uint64_t object;   // call: CUPTI's number of the call; graph_launch: CUPTI's number of the graph; memory:
                            // address; pool: its address
    std::uint64_t bytes;    // memory, copy, set: size; pool: its size
    std::uint64_t extra;    // memory of a pool: the pool's address; pool: bytes in use; call: CUresult
    std::uint32_t thread;   // call: kernel thread number
    std::uint32_t reserved;
};
static_assert(sizeof(activity) == 64);

}  // namespace lastref::cupti_file
