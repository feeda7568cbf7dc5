#include "analyzer/model/process_state.h"

#include "analyzer/model/lifecycle.h"

#include <algorithm>
#include <utility>

namespace lastref::model {
namespace {

constexpr store::handle legacy_token = 1;
constexpr store::handle per_thread_token = 2;

// What cuCtxDestroy takes with it; stream-ordered and virtual memory, graphs and user objects stay (cuda.h,
// cuCtxDestroy).
bool belongs_to_context(object_kind kind) {
    using k = object_kind;
    switch (kind) {
        case k::device:
        case k::managed:
        case k::pinned:
        case k::registered:
        case k::array:
        case k::mipmapped_array:
        case k::external_mapping:
        case k::external_memory:
        case k::ipc_memory:
        case k::stream:
        case k::event:
        case k::module:
            return true;
        default:
            return false;
    }
}

// A release that had not returned when recording ended is taken as done: nothing says that it was refused.
bool done(event const& e) {
    return e.row.succeeded() || !e.row.returned();
}

std::size_t slot_of(handle_space space, store::handle handle, std::size_t slots) {
    auto const mixed = (handle ^ static_cast<std::uint64_t>(space) << 56) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(mixed >> 40) % slots;
}

}  // namespace

process_state::process_state(store::trace const& trace, store::process const& process,
                             std::function<object_id()> next_id, std::vector<observer*> const& observers)
    : trace_(trace), process_(process), next_id_(next_id), observers_(observers), graphs_(next_id), past_(remembered) {}

// --- streams -------------------------------------------------------------------------------------------------------

object_id process_state::stream_named(store::handle token) {
    if (auto const* known = objects_.find(handle_space::stream, token)) return known->id;
    object unknown;  // made before the recording or by a call that is not recorded
    unknown.id = next_id_();
    unknown.kind = object_kind::stream;
    unknown.process = process_.id;
    unknown.handle = token;
    return objects_.insert(unknown).id;
}

stream_identity process_state::resolve_stream(store::event const& row, store::api const& api) {
    using enum store::default_stream;
    if (row.stream == 0) {
        if (api.default_stream == none) return {};
        if (api.default_stream == legacy) return {stream_kind::legacy, stream_token::null, {}, row.context, {}};
        return {stream_kind::per_thread, stream_token::null, row.thread, row.context, {}};
    }
    if (row.stream == legacy_token) return {stream_kind::legacy, stream_token::legacy, {}, row.context, {}};
    if (row.stream == per_thread_token)
        return {stream_kind::per_thread, stream_token::per_thread, row.thread, row.context, {}};
    return {stream_kind::created, stream_token::created, {}, {}, stream_named(row.stream), row.stream};
}

// --- objects in general --------------------------------------------------------------------------------------------

object process_state::new_object(event const& e, object_kind kind, store::handle handle) const {
    object made;
    made.id = next_id_();
    made.kind = kind;
    made.process = process_.id;
    made.handle = handle;
    made.bytes = is_memory(kind) ? e.row.size : 0;
    made.created = e.where();
    return made;
}

object const& process_state::insert(event const& e, object made) {
    auto const space = space_of(made.kind);
    if (auto const* old = objects_.find(space, made.handle)) {
        if (old->kind == object_kind::user_object) {
            displaced_.push_back(*old);
        } else {
            ++unseen_releases_;
            release(e, *old, release_cause::displaced);
        }
    }
    return objects_.insert(std::move(made));
}

void process_state::remember(event const& e, object const& released) {
    auto const space = space_of(released.kind);
    past_[slot_of(space, released.handle, remembered)] = {released, e.where()};
}

void process_state::release(event const& e, object const& released, release_cause cause) {
    for (auto* const each : observers_) each->on_released(*this, released, e, cause);
    remember(e, released);
    objects_.erase(space_of(released.kind), released.handle);
}

past_object const* process_state::recently_released(handle_space space, store::handle handle) const {
    auto const& past = past_[slot_of(space, handle, remembered)];
    return past.what.id && past.what.handle == handle && space_of(past.what.kind) == space ? &past : nullptr;
}

origin const* process_state::graph_memory(store::handle pointer) const {
    auto const found = graph_memory_.find(pointer);
    return found == graph_memory_.end() ? nullptr : &found->second;
}

void process_state::tell(event const& e) {
    for (auto* const each : observers_) each->on_event(*this, e);
}

// --- one event -----------------------------------------------------------------------------------------------------

void process_state::take(store::event const& row) {
    auto const& api = trace_.at(row.api);
    if (events_++ == 0) first_event_ = row.begin;
    last_time_ = std::max(last_time_, row.end());
    event e{row, api, process_.id, resolve_stream(row, api)};
    auto const& life = lifecycle_of(api.kind);
    switch (life.action) {
        case step::create:
            return take_create(e, life.made);
        case step::destroy:
            return take_destroy(e, life.space);
        case step::use:
            return take_use(e);
        case step::special:
            return take_special(e);
        case step::look:
            e.subject = objects_.find(life.space, row.object);
            break;
        case step::none:
            break;
    }
    if (api.kind == event_kind::event_record && e.subject) captures_.recorded(e.subject->id, e.stream);
    if (api.kind == event_kind::stream_wait_event && e.subject) captures_.waited(e.subject->id, e.stream);
    tell(e);
}

void process_state::finish() {
    if (events_ == 0) return;
    for (auto* const each : observers_) each->on_process_end(*this);
}

// Imports of the same export give the same pointer, which counts its openings.
bool process_state::opened_again(event& e, object_kind kind) {
    if (kind != object_kind::ipc_memory && kind != object_kind::imported_pointer) return false;
    auto* open = objects_.find(space_of(kind), e.row.object);
    if (open == nullptr || open->kind != kind) return false;
    ++open->references;
    e.subject = open;
    return true;
}

void process_state::take_create(event& e, object_kind kind) {
    if (e.row.succeeded() && e.row.object != 0 && !opened_again(e, kind)) {
        auto made = new_object(e, kind, e.row.object);
        made.parent = e.row.other;
        e.subject = &insert(e, std::move(made));
    }
    tell(e);
}

void process_state::take_destroy(event& e, handle_space space) {
    auto* known = objects_.find(space, e.row.object);
    e.subject = known;
    tell(e);
    if (known && done(e)) close(e, *known);
}

void process_state::close(event const& e, object& closed) {
    bool const counts = closed.kind == object_kind::ipc_memory || closed.kind == object_kind::imported_pointer;
    if (counts && --closed.references > 0) return;
    release(e, closed, release_cause::call);
}

void process_state::take_use(event& e) {
    auto const at = [this](store::handle address) -> object const* {
        auto const* memory = objects_.containing(address);
        return memory != nullptr ? memory : objects_.containing_on_host(address);
    };
    e.subject = at(e.row.object);
    if (e.kind() == event_kind::copy) e.related = at(e.row.other);
    tell(e);
}

void process_state::take_special(event& e) {
    using k = event_kind;
    switch (e.kind()) {
        case k::user_object_create:
        case k::user_object_retain:
        case k::user_object_release:
        case k::graph_retain_user_object:
        case k::graph_release_user_object:
            return take_user_object(e);
        case k::callback_user_object:
            return take_destructor(e);
        case k::capture_begin:
        case k::capture_end:
        case k::capture_info:
            return take_capture(e);
        case k::pool_get:
            return take_pool_get(e);
        case k::memory_alloc_async:
            return take_alloc_async(e);
        case k::memory_free_async:
            return take_free_async(e);
        case k::vmm_retain:
        case k::vmm_release:
            return take_physical(e);
        case k::vmm_map:
            return take_map(e);
        case k::vmm_unmap:
            return take_unmap(e);
        case k::context_destroy:
        case k::primary_context_retain:
        case k::primary_context_release:
        case k::primary_context_reset:
            return take_context(e);
        case k::graph_instantiate:
        case k::graph_exec_update:
        case k::graph_exec_child_set:
        case k::graph_exec_destroy:
        case k::graph_launch:
            return take_exec(e);
        default:
            return take_graph(e);
    }
}

// --- user objects --------------------------------------------------------------------------------------------------

void process_state::take_user_object(event& e) {
    if (e.kind() == event_kind::user_object_create) {
        if (e.row.succeeded() && e.row.object != 0) {
            auto made = new_object(e, object_kind::user_object, e.row.object);
            made.parent = e.row.other;
            made.extra = e.row.extra;
            e.subject = &insert(e, std::move(made));
        }
    } else {
        e.subject = objects_.find(handle_space::user_object, e.row.object);
        e.related = graphs_.find_graph(e.row.other);
    }
    tell(e);
}

// The driver may hand an object's handle out again before it runs the destructor: the payload tells the two apart.
void process_state::take_destructor(event& e) {
    auto const is_it = [&e](object const& o) { return o.handle == e.row.object && o.parent == e.row.other; };
    auto const displaced = std::find_if(displaced_.begin(), displaced_.end(), is_it);
    if (displaced != displaced_.end()) {
        object const gone = *displaced;
        displaced_.erase(displaced);
        e.subject = &gone;
        tell(e);
        for (auto* const each : observers_) each->on_released(*this, gone, e, release_cause::call);
        return;
    }
    e.subject = objects_.find(handle_space::user_object, e.row.object);
    tell(e);
    if (e.subject) release(e, *e.subject, release_cause::call);
}

// --- graphs --------------------------------------------------------------------------------------------------------

graphs::copied process_state::copied(event const& e) {
    return [this, &e](object const& from, object const& to) {
        for (auto* const each : observers_) each->on_owner_copied(*this, from, to, e);
    };
}

graphs::gone process_state::gone(event const& e) {
    return [this, &e](object const& part) {
        for (auto* const each : observers_) each->on_owner_gone(*this, part, e);
    };
}

void process_state::drop_graph_part(event const& e, object_id id) {
    auto const* part = graphs_.find(id);
    if (part == nullptr) return;
    for (auto* const each : observers_) each->on_released(*this, part->self, e, release_cause::call);
    if (part->self.handle != 0) remember(e, part->self);
    graphs_.drop(id, gone(e));
}

void process_state::take_new_graph(event& e, store::handle source) {
    if (!e.row.succeeded() || e.row.object == 0) return;
    // The handle is free again, so whatever we still have under it went unseen.
    if (auto const* old = graphs_.find_graph(e.row.object)) drop_graph_part(e, old->id);
    auto const& made = graphs_.add_graph(new_object(e, object_kind::graph, e.row.object));
    e.subject = &made;
    e.related = source ? graphs_.find_graph(source) : nullptr;
    if (e.related == nullptr) return;
    copied(e)(*e.related, made);
    graphs_.copy_tree(*e.related, made, copied(e));
}

void process_state::take_child(event& e, store::handle parent, store::handle node, store::handle source,
                               store::handle made) {
    if (!e.row.succeeded()) return;
    // Whatever is still known under the new handles went unseen; it may be the very graph that the call names as
    // parent.
    if (auto const* old = graphs_.holder_of_node(node)) drop_graph_part(e, old->self.id);
    if (auto const* old = made ? graphs_.find_graph(made) : nullptr) drop_graph_part(e, old->id);
    auto const* above = graphs_.find_graph(parent);
    if (above == nullptr) return;
    e.related = graphs_.find_graph(source);
    e.subject =
        &graphs_.add_child(above->id, node, new_object(e, object_kind::child_graph, made), e.related, copied(e));
}

void process_state::take_node(event& e) {
    using k = event_kind;
    auto const& row = e.row;
    if (e.kind() == k::graph_add_child) return take_child(e, row.other, row.object, row.extra, 0);
    if (e.kind() == k::graph_body) return take_child(e, row.other, row.extra, 0, row.object);
    if (e.kind() == k::graph_add_memory_alloc && row.succeeded() && row.extra != 0)
        graph_memory_[row.extra] = e.where();
    if (e.kind() == k::graph_destroy_node && done(e))
        if (auto const* held = graphs_.holder_of_node(row.object)) drop_graph_part(e, held->self.id);
}

void process_state::take_graph(event& e) {
    using k = event_kind;
    auto const& row = e.row;
    switch (e.kind()) {
        case k::graph_create:
            take_new_graph(e, 0);
            return tell(e);
        case k::graph_clone:
            take_new_graph(e, row.other);
            return tell(e);
        case k::graph_destroy: {
            auto const* known = graphs_.find_graph(row.object);
            e.subject = known;
            tell(e);
            if (known && done(e)) drop_graph_part(e, known->id);
            return;
        }
        case k::graph_child_get:
            if (auto const* part = row.succeeded() ? graphs_.holder_of_node(row.other) : nullptr)
                graphs_.bind_graph(part->self.id, row.object);
            return tell(e);
        case k::graph_query:  // cuGraphNodeFindInClone: `extra` is the clone's node
            if (auto const* graph = row.extra != 0 ? graphs_.find_graph(row.object) : nullptr)
                graphs_.bind_node(graphs_.clone_of_node(graph->id, row.other), row.extra);
            return tell(e);
        default:
            take_node(e);
            return tell(e);
    }
}

void process_state::take_exec(event& e) {
    using k = event_kind;
    auto const& row = e.row;
    if (e.kind() == k::graph_instantiate) {
        e.related = graphs_.find_graph(row.other);
        if (row.succeeded() && row.object != 0) {
            if (auto const* old = graphs_.find_exec(row.object)) drop_graph_part(e, old->id);
            auto made = new_object(e, object_kind::graph_exec, row.object);
            auto const& exec = graphs_.add_exec(std::move(made));
            e.subject = &exec;
            if (e.related) copied(e)(*e.related, exec);
            if (e.related) graphs_.copy_tree(*e.related, exec, copied(e));
        }
        return tell(e);
    }
    auto const* exec = graphs_.find_exec(row.object);
    e.subject = exec;
    if (e.kind() == k::graph_exec_update) e.related = graphs_.find_graph(row.other);
    if (e.kind() == k::graph_exec_child_set) e.related = graphs_.find_graph(row.extra);
    tell(e);
    if (exec == nullptr) return;
    if (e.kind() == k::graph_exec_destroy && done(e)) return drop_graph_part(e, exec->id);
    if (!row.succeeded() || e.related == nullptr) return;
    if (e.kind() == k::graph_exec_update) graphs_.replace(*exec, *e.related, copied(e), gone(e));
    if (e.kind() == k::graph_exec_child_set) graphs_.replace_child(*exec, row.other, *e.related, copied(e), gone(e));
}

void process_state::take_capture(event& e) {
    using k = event_kind;
    auto const& row = e.row;
    if (e.kind() == k::capture_begin && row.succeeded()) captures_.begin(e.stream, row.other);
    if (e.kind() == k::capture_end) {  // a capture that was broken ends as well, without a graph
        auto const into = captures_.end(e.stream);
        if (into != 0 && into == row.object)
            e.subject = graphs_.find_graph(into);
        else
            take_new_graph(e, 0);
    }
    // The graph under construction can be given references before the capture ends.
    if (e.kind() == k::capture_info && row.succeeded() && row.object != 0 && graphs_.find_graph(row.object) == nullptr)
        take_new_graph(e, 0);
    tell(e);
}

// --- memory --------------------------------------------------------------------------------------------------------

void process_state::take_alloc_async(event& e) {
    if (e.row.succeeded() && captures_.capturing(e.stream))
        graph_memory_[e.row.object] = e.where();
    else if (e.row.succeeded() && e.row.object != 0) {
        auto made = new_object(e, object_kind::stream_ordered, e.row.object);
        made.parent = e.row.other;
        e.subject = &insert(e, std::move(made));
    }
    tell(e);
}

// A device's default pool is made by nobody; its handle may be one that a destroyed pool had.
void process_state::take_pool_get(event& e) {
    auto const* known = objects_.find(handle_space::pool, e.row.object);
    if (known == nullptr && e.row.succeeded() && e.row.object != 0) {
        object pool;
        pool.id = next_id_();
        pool.kind = object_kind::pool;
        pool.process = process_.id;
        pool.handle = e.row.object;
        known = &insert(e, pool);
    }
    e.subject = known;
    tell(e);
}

void process_state::take_free_async(event& e) {
    auto* known = objects_.find(handle_space::device_pointer, e.row.object);
    e.subject = known;
    tell(e);
    if (known && done(e) && !captures_.capturing(e.stream)) close(e, *known);
}

void process_state::take_physical(event& e) {
    auto* physical = objects_.find(handle_space::physical, e.row.object);
    e.subject = physical;
    tell(e);
    if (physical == nullptr) return;
    if (e.kind() == event_kind::vmm_retain && e.row.succeeded()) ++physical->references;
    if (e.kind() != event_kind::vmm_release || !done(e) || --physical->references > 0) return;
    if (physical->mappings == 0) return release(e, *physical, release_cause::call);
    // Mappings keep the memory; the handle's value is free for the next one.
    ownerless_[physical->id] = *physical;
    objects_.erase(handle_space::physical, e.row.object);
}

void process_state::take_map(event& e) {
    auto* physical = objects_.find(handle_space::physical, e.row.other);
    e.related = physical;
    if (e.row.succeeded()) {
        if (objects_.find(handle_space::mapping, e.row.object)) unmap(e, e.row.object);
        auto made = new_object(e, object_kind::mapping, e.row.object);
        made.parent = e.row.other;
        made.extra = physical ? physical->id.value : 0;
        if (physical) ++physical->mappings;
        e.subject = &insert(e, std::move(made));
    }
    tell(e);
}

void process_state::drop_physical_if_unused(event const& e, object_id id) {
    auto const found = ownerless_.find(id);
    if (found == ownerless_.end() || --found->second.mappings > 0) return;
    for (auto* const each : observers_) each->on_released(*this, found->second, e, release_cause::call);
    ownerless_.erase(found);
}

void process_state::unmap(event const& e, store::handle address) {
    auto const* mapping = objects_.find(handle_space::mapping, address);
    if (mapping == nullptr) return;
    object_id const physical{mapping->extra};
    auto* owned = objects_.find(handle_space::physical, mapping->parent);
    release(e, *mapping, release_cause::call);
    if (owned && owned->id == physical)
        --owned->mappings;
    else
        drop_physical_if_unused(e, physical);
}

// One call unmaps every mapping of its range.
void process_state::take_unmap(event& e) {
    e.subject = objects_.find(handle_space::mapping, e.row.object);
    tell(e);
    if (!done(e)) return;
    if (e.subject && e.subject->bytes >= e.row.size) return unmap(e, e.row.object);
    std::vector<store::handle> covered;
    objects_.for_each([&](object const& o) {
        if (o.kind == object_kind::mapping && o.handle - e.row.object < e.row.size) covered.push_back(o.handle);
    });
    for (auto const address : covered) unmap(e, address);
}

// --- contexts ------------------------------------------------------------------------------------------------------

void process_state::release_contents(event const& e, store::handle context) {
    std::vector<object> contents;
    objects_.for_each([&](object const& o) {
        if (belongs_to_context(o.kind) && o.created.context && trace_.at(o.created.context).handle == context)
            contents.push_back(o);
    });
    for (auto const& o : contents) release(e, o, release_cause::context_destroyed);
}

void process_state::take_context(event& e) {
    using k = event_kind;
    auto const& row = e.row;
    if (e.kind() == k::context_destroy) {
        e.subject = objects_.find(handle_space::context, row.object);
        tell(e);
        if (!done(e)) return;
        release_contents(e, row.object);
        if (e.subject) release(e, *e.subject, release_cause::call);
        return;
    }
    tell(e);
    if (!done(e)) return;
    if (e.kind() == k::primary_context_retain) {
        auto& kept = primaries_[row.other];
        kept.context = row.object;
        ++kept.retained;
        return;
    }
    auto& kept = primaries_[row.object];
    if (e.kind() == k::primary_context_release && --kept.retained > 0) return;
    kept.retained = 0;
    if (kept.context != 0) release_contents(e, kept.context);
}

}  // namespace lastref::model
