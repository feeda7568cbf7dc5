#include "analyzer/model/observer.h"

#include <array>

namespace lastref::model {

handle_space space_of(object_kind kind) {
    using k = object_kind;
    switch (kind) {
        case k::device:
        case k::stream_ordered:
        case k::managed:
        case k::ipc_memory:
        case k::imported_pointer:
        case k::external_mapping:
            return handle_space::device_pointer;
        case k::pinned:
            return handle_space::host_pointer;
        case k::registered:
            return handle_space::registered;
        case k::physical:
            return handle_space::physical;
        case k::mapping:
            return handle_space::mapping;
        case k::address_range:
            return handle_space::address_range;
        case k::array:
            return handle_space::array;
        case k::mipmapped_array:
            return handle_space::mipmapped_array;
        case k::external_memory:
            return handle_space::external_memory;
        case k::user_object:
            return handle_space::user_object;
        case k::graph:
        case k::child_graph:
            return handle_space::graph;
        case k::graph_exec:
            return handle_space::graph_exec;
        case k::stream:
            return handle_space::stream;
        case k::event:
            return handle_space::event;
        case k::context:
            return handle_space::context;
        case k::green_context:
            return handle_space::green_context;
        case k::pool:
            return handle_space::pool;
        case k::module:
            return handle_space::module;
        case k::library:
            return handle_space::library;
        case k::child_exec:
        case k::count:
            break;
    }
    return handle_space::none;
}

char const* name_of(object_kind kind) {
    static constexpr std::array names{"device memory",
                                      "stream-ordered memory",
                                      "managed memory",
                                      "pinned host memory",
                                      "registered host memory",
                                      "physical memory",
                                      "memory mapping",
                                      "address range",
                                      "memory of another process (IPC)",
                                      "imported pool memory",
                                      "array",
                                      "mipmapped array",
                                      "mapped external memory",
                                      "external memory",
                                      "user object",
                                      "graph",
                                      "child graph",
                                      "executable graph",
                                      "child graph of an executable graph",
                                      "stream",
                                      "event",
                                      "context",
                                      "green context",
                                      "memory pool",
                                      "module",
                                      "library"};
    static_assert(names.size() == static_cast<std::size_t>(object_kind::count));
    return kind < object_kind::count ? names[static_cast<std::size_t>(kind)] : "object";
}

origin event::where() const {
    return {row.id, row.begin, row.result, row.thread, row.api, row.stack, row.context, stream, row.flags};
}

}  // namespace lastref::model
