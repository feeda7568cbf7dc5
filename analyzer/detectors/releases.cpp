#include "analyzer/detectors/releases.h"

namespace lastref::detectors {
namespace {

bool names_something(model::event const& e) {
    bool const by_device =
        e.kind() == event_kind::primary_context_release || e.kind() == event_kind::primary_context_reset;
    return e.row.object != 0 || by_device;
}

}  // namespace

bool is_refused_release(model::event const& e) {
    bool const releases = e.api.verb == store::verb::destroy || e.api.verb == store::verb::release;
    bool const refused = e.row.returned() && !e.row.succeeded() && e.row.result != cuda_result::deinitialized;
    return releases && refused && names_something(e);
}

model::handle_space space_released_by(event_kind kind) {
    using k = event_kind;
    switch (kind) {
        case k::memory_free:
        case k::memory_free_async:
        case k::ipc_close:
            return model::handle_space::device_pointer;
        case k::host_free:
            return model::handle_space::host_pointer;
        case k::host_unregister:
            return model::handle_space::registered;
        case k::stream_destroy:
            return model::handle_space::stream;
        case k::event_destroy:
            return model::handle_space::event;
        case k::graph_destroy:
            return model::handle_space::graph;
        case k::graph_exec_destroy:
            return model::handle_space::graph_exec;
        case k::user_object_release:
            return model::handle_space::user_object;
        case k::pool_destroy:
            return model::handle_space::pool;
        case k::module_unload:
            return model::handle_space::module;
        case k::library_unload:
            return model::handle_space::library;
        case k::context_destroy:
            return model::handle_space::context;
        case k::vmm_unreserve:
            return model::handle_space::address_range;
        case k::array_destroy:
            return model::handle_space::array;
        default:
            return model::handle_space::none;
    }
}

bool is_sticky(std::int64_t result) {
    return (result >= 700 && result <= 703) || (result >= 714 && result <= 719) || result == 710;
}

bool is_double_free(model::process_state const& process, model::event const& e) {
    bool const by_handle = e.row.result == cuda_result::invalid_value || e.row.result == cuda_result::invalid_handle;
    // A stream that nobody was seen to make is known by its handle alone: its creation may have gone unseen.
    bool const known = e.subject != nullptr;
    bool const only_named = known && e.subject->kind == model::object_kind::stream && !e.subject->created.event;
    if (!by_handle || (known && !only_named) || !is_refused_release(e)) return false;
    auto const space = space_released_by(e.kind());
    if (space == model::handle_space::none) return false;
    if (process.recently_released(space, e.row.object) != nullptr) return true;
    if (only_named) return false;
    if (space != model::handle_space::device_pointer) return true;
    // Memory of a graph, and addresses inside an allocation, are failed frees: there is something to free.
    return process.graph_memory(e.row.object) == nullptr && process.objects().containing(e.row.object) == nullptr;
}

}  // namespace lastref::detectors
