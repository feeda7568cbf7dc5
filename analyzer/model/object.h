// Objects of the driver by life: every handle value is handed out again, so what a handle meant at one time is a number
// of its own (a generation id) that is never used twice in an analysis.
#pragma once

#include "analyzer/model/stream.h"
#include "analyzer/store/rows.h"

#include <cstdint>

namespace lastref::model {

enum class object_kind : std::uint8_t {
    // memory
    device,          // cuMemAlloc and its like: belongs to a context
    stream_ordered,  // cuMemAllocAsync, from a pool
    managed,
    pinned,
    registered,        // host memory of the program's, registered
    physical,          // cuMemCreate and imports: a handle of the virtual memory functions
    mapping,           // cuMemMap
    address_range,     // cuMemAddressReserve: no memory, only addresses
    ipc_memory,        // opened from another process
    imported_pointer,  // from an imported pool
    array,
    mipmapped_array,
    external_mapping,  // of imported external memory
    external_memory,
    last_memory = external_memory,
    // everything else
    user_object,
    graph,
    child_graph,  // the copy that a child-graph node holds, and conditional bodies
    graph_exec,
    child_exec,  // an executable graph's copy of a child graph
    stream,
    event,
    context,
    green_context,
    pool,
    module,
    library,
    count
};

constexpr bool is_memory(object_kind kind) {
    return kind <= object_kind::last_memory;
}

// Handle values are unique among the live objects of one space.
enum class handle_space : std::uint8_t {
    device_pointer,
    host_pointer,
    registered,
    physical,
    mapping,
    address_range,
    array,
    mipmapped_array,
    external_memory,
    user_object,
    graph,
    graph_exec,
    graph_node,
    stream,
    event,
    context,
    green_context,
    pool,
    module,
    library,
    device,  // ordinals, for primary contexts
    none
};

handle_space space_of(object_kind kind);

// A call and where it stood.
struct origin {
    store::event_id event;  // none: the object was there before the recording, or came from an unknown call
    store::time_ns at = 0;  // begin of the call
    std::int64_t result = 0;
    store::thread_id thread;
    store::api_id api;
    store::stack_id stack;
    store::context_id context;  // current on the thread
    stream_identity stream;
    std::uint8_t flags = 0;
};

struct object {
    object_id id;
    object_kind kind = object_kind::count;
    store::process_id process;
    store::handle handle = 0;
    std::uint64_t bytes = 0;
    store::handle parent = 0;  // pool of stream-ordered memory, payload of a user object, physical handle of a mapping
    std::uint64_t extra = 0;   // destructor of a user object
    std::int32_t references = 1;  // physical memory: of the handle, beside its mappings; imports: openings
    std::int32_t mappings = 0;
    origin created;
};

// A word or two for people: "stream-ordered memory", "executable graph".
char const* name_of(object_kind kind);

}  // namespace lastref::model
