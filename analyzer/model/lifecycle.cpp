#include "analyzer/model/lifecycle.h"

#include <array>

namespace lastref::model {
namespace {

constexpr auto kinds = static_cast<std::size_t>(event_kind::count);
using table = std::array<lifecycle, kinds + 1>;  // the last is of unknown kinds

constexpr void creates(table& t, event_kind kind, object_kind made) {
    t[static_cast<std::size_t>(kind)] = {step::create, made, handle_space::none};
}
constexpr void destroys(table& t, event_kind kind, handle_space space) {
    t[static_cast<std::size_t>(kind)] = {step::destroy, object_kind::count, space};
}
constexpr void looks(table& t, event_kind kind, handle_space space) {
    t[static_cast<std::size_t>(kind)] = {step::look, object_kind::count, space};
}

constexpr void memory(table& t) {
    using e = event_kind;
    creates(t, e::memory_alloc, object_kind::device);
    creates(t, e::memory_alloc_managed, object_kind::managed);
    destroys(t, e::memory_free, handle_space::device_pointer);
    creates(t, e::host_alloc, object_kind::pinned);
    destroys(t, e::host_free, handle_space::host_pointer);
    creates(t, e::host_register, object_kind::registered);
    destroys(t, e::host_unregister, handle_space::registered);
    creates(t, e::array_create, object_kind::array);
    destroys(t, e::array_destroy, handle_space::array);
    creates(t, e::mipmapped_array_create, object_kind::mipmapped_array);
    destroys(t, e::mipmapped_array_destroy, handle_space::mipmapped_array);
    creates(t, e::vmm_create, object_kind::physical);
    creates(t, e::vmm_reserve, object_kind::address_range);
    destroys(t, e::vmm_unreserve, handle_space::address_range);
    creates(t, e::ipc_open, object_kind::ipc_memory);
    destroys(t, e::ipc_close, handle_space::device_pointer);
    creates(t, e::external_memory_import, object_kind::external_memory);
    creates(t, e::external_memory_map, object_kind::external_mapping);
    destroys(t, e::external_memory_destroy, handle_space::external_memory);
    creates(t, e::pool_import_pointer, object_kind::imported_pointer);
}

constexpr void others(table& t) {
    using e = event_kind;
    creates(t, e::pool_create, object_kind::pool);
    creates(t, e::pool_import, object_kind::pool);
    destroys(t, e::pool_destroy, handle_space::pool);
    creates(t, e::stream_create, object_kind::stream);
    destroys(t, e::stream_destroy, handle_space::stream);
    creates(t, e::event_create, object_kind::event);
    destroys(t, e::event_destroy, handle_space::event);
    creates(t, e::context_create, object_kind::context);
    creates(t, e::green_context_create, object_kind::green_context);
    destroys(t, e::green_context_destroy, handle_space::green_context);
    creates(t, e::module_load, object_kind::module);
    destroys(t, e::module_unload, handle_space::module);
    creates(t, e::library_load, object_kind::library);
    destroys(t, e::library_unload, handle_space::library);
    for (auto const kind : {e::stream_wait_event, e::event_record, e::event_query, e::event_synchronize,
                            e::context_record_event, e::context_wait_event})
        looks(t, kind, handle_space::event);
    for (auto const kind : {e::copy, e::memory_set, e::prefetch, e::stream_memory_op, e::stream_attach})
        t[static_cast<std::size_t>(kind)].action = step::use;
}

constexpr void special(table& t) {
    using e = event_kind;
    for (auto const kind : {e::user_object_create,
                            e::user_object_retain,
                            e::user_object_release,
                            e::graph_retain_user_object,
                            e::graph_release_user_object,
                            e::callback_user_object,
                            e::graph_create,
                            e::graph_clone,
                            e::graph_destroy,
                            e::graph_body,
                            e::graph_add_node,
                            e::graph_add_child,
                            e::graph_add_memory_alloc,
                            e::graph_add_memory_free,
                            e::graph_destroy_node,
                            e::graph_child_get,
                            e::graph_query,
                            e::graph_instantiate,
                            e::graph_exec_update,
                            e::graph_exec_child_set,
                            e::graph_exec_node_set,
                            e::graph_exec_destroy,
                            e::graph_launch,
                            e::capture_begin,
                            e::capture_end,
                            e::capture_info,
                            e::memory_alloc_async,
                            e::memory_free_async,
                            e::pool_get,
                            e::vmm_retain,
                            e::vmm_release,
                            e::vmm_map,
                            e::vmm_unmap,
                            e::context_destroy,
                            e::primary_context_retain,
                            e::primary_context_release,
                            e::primary_context_reset})
        t[static_cast<std::size_t>(kind)].action = step::special;
}

constexpr table make_table() {
    table t{};
    memory(t);
    others(t);
    special(t);
    return t;
}

constexpr table steps = make_table();

}  // namespace

lifecycle const& lifecycle_of(event_kind kind) {
    auto const index = static_cast<std::size_t>(kind);
    return steps[index < kinds ? index : kinds];
}

}  // namespace lastref::model
