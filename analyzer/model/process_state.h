// The live objects of one recorded process, kept up to date event by event.
#pragma once

#include "analyzer/model/captures.h"
#include "analyzer/model/graphs.h"
#include "analyzer/model/observer.h"
#include "analyzer/model/registry.h"
#include "analyzer/store/trace.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace lastref::model {

// What is remembered of an object after its release; only the newest few thousand are.
struct past_object {
    object what;
    origin released;
};

class process_state {
  public:
    process_state(store::trace const& trace, store::process const& process, std::function<object_id()> next_id,
                  std::vector<observer*> const& observers);
    process_state(process_state const&) = delete;

    store::trace const& trace() const { return trace_; }
    store::process const& process() const { return process_; }
    registry const& objects() const { return objects_; }
    model::graphs const& graphs() const { return graphs_; }
    std::uint64_t events() const { return events_; }
    store::time_ns first_event() const { return first_event_; }  // begin of the first call
    store::time_ns last_time() const { return last_time_; }      // end of the last one

    // The event's stream while it is captured does not do anything yet.
    bool capturing(stream_identity const& stream) const { return captures_.capturing(stream); }

    past_object const* recently_released(handle_space space, store::handle handle) const;

    // Memory that belongs to a graph: captured allocations and allocation nodes. Null for others.
    origin const* graph_memory(store::handle pointer) const;

    // User objects whose handle was handed out again before their destructor was seen; they count as alive.
    std::vector<object> const& displaced_user_objects() const { return displaced_; }

    // Objects that must have gone by a call that was not recorded, since their handle was handed out again.
    std::uint64_t unseen_releases() const { return unseen_releases_; }

    void take(store::event const& row);
    void finish();

  private:
    static constexpr std::size_t remembered = 4096;

    stream_identity resolve_stream(store::event const& row, store::api const& api);
    object_id stream_named(store::handle token);
    object new_object(event const& e, object_kind kind, store::handle handle) const;
    object const& insert(event const& e, object made);
    void release(event const& e, object const& released, release_cause cause);
    void remember(event const& e, object const& released);
    void tell(event const& e);

    void take_special(event& e);
    bool opened_again(event& e, object_kind kind);
    void close(event const& e, object& closed);
    void take_create(event& e, object_kind kind);
    void take_destroy(event& e, handle_space space);
    void take_use(event& e);

    void take_user_object(event& e);
    void take_destructor(event& e);
    void take_graph(event& e);
    void take_new_graph(event& e, store::handle source);
    void take_node(event& e);
    void take_child(event& e, store::handle parent, store::handle node, store::handle source, store::handle made);
    void take_exec(event& e);
    void take_capture(event& e);
    void take_pool_get(event& e);
    void take_alloc_async(event& e);
    void take_free_async(event& e);
    void take_physical(event& e);
    void take_map(event& e);
    void take_unmap(event& e);
    void unmap(event const& e, store::handle address);
    void drop_physical_if_unused(event const& e, object_id id);
    void take_context(event& e);
    void release_contents(event const& e, store::handle context);
    void drop_graph_part(event const& e, object_id id);
    graphs::copied copied(event const& e);
    graphs::gone gone(event const& e);

    store::trace const& trace_;
    store::process const& process_;
    std::function<object_id()> next_id_;
    std::vector<observer*> const& observers_;
    registry objects_;
    model::graphs graphs_;
    captures captures_;
    std::vector<past_object> past_;
    std::vector<object> displaced_;
    std::unordered_map<store::handle, origin> graph_memory_;
    std::unordered_map<object_id, object> ownerless_;  // physical memory that only mappings keep
    struct primary {
        store::handle context = 0;
        std::int64_t retained = 0;
    };
    std::unordered_map<store::handle, primary> primaries_;  // by device
    std::uint64_t events_ = 0;
    std::uint64_t unseen_releases_ = 0;
    store::time_ns first_event_ = 0;
    store::time_ns last_time_ = 0;
};

}  // namespace lastref::model
