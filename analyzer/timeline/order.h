// Which work comes after which: happens-before between streams, and between streams and the host.
//
// Edges that are followed:
//   - work of one stream, in the order in which it was given;
//   - an event's record, and what waits for it: streams, contexts, the host, and queries that said "done";
//   - the legacy default stream of a context with that context's blocking streams and per-thread default streams, both
//     ways; not with non-blocking streams;
//   - launches of one executable graph, which never overlap;
//   - what the host waited for (stream, context and event synchronization, queries that said "done", copies that return
//     when they are done, ordinary frees of device memory, a host function or stream callback that ran) and everything
//     given to any stream afterwards.
//
// The host counts as one: a wait of one host thread orders what another thread does later. Mutexes and joins of
// threads cannot be seen, so that a program that has them would be blamed otherwise; what it costs is a race that did
// not happen in this run. For the same reason these count as ordered: waits that may be for a graph's event nodes,
// external semaphores and words in memory, as soon as the other side signalled any; streams that went long ago.
//
// What a capturing stream is given does not happen then, and is left out. Memory grows with live streams and events,
// and with the threads that used a per-thread default stream.
#pragma once

#include "analyzer/model/observer.h"
#include "analyzer/timeline/clock.h"

#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace lastref::timeline {

// A piece of work on a stream.
struct point {
    std::uint32_t stream = 0;  // a number of the engine's, never used again; 0 for none
    moment given;
};

class order : public model::observer {
  public:
    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;

    // The work that the event gave to its stream. To be called during that event, after the engine was told of it.
    point work(model::event const& e) const;

    // Whether `earlier` is done before whatever is given to `later` now.
    bool before(point const& earlier, model::stream_identity const& later) const;

    // Whether the host is known to have waited for it.
    bool completed(point const& earlier) const;

    // The latest moment of `of`'s stream that is known to come before what is given to `later` now.
    std::optional<moment> latest_before(point const& of, model::stream_identity const& later) const;

    // Streams that work joins with the legacy default stream of its context.
    bool blocking(model::stream_identity const& stream) const;

    // The stream was destroyed since.
    bool gone(point const& of) const;

  private:
    static constexpr std::size_t most_gone = 512;  // destroyed streams whose order is remembered

    struct stream_state {
        std::uint32_t process = 0;
        std::uint32_t context = 0;  // 0: unknown, made before the recording
        bool legacy = false;
        bool blocking = true;  // also where that is unknown
        bool gone = false;
        clock after;  // what was waited for
    };
    struct context_state {
        std::uint32_t legacy_stream = 0;
        moment last_legacy;      // latest work on the legacy stream
        clock blocking_pending;  // what blocking streams waited for since
        clock waits;             // of the whole context
    };
    struct callback {
        std::uint64_t function = 0;
        std::uint64_t data = 0;
        friend bool operator==(callback const&, callback const&) = default;
    };
    struct hash_callback {
        std::size_t operator()(callback const& c) const noexcept {
            return std::hash<std::uint64_t>{}(c.function * 31 + c.data);
        }
    };

    stream_state const* find(std::uint32_t number) const;
    std::uint32_t number_of(model::stream_identity const& stream) const;
    std::uint32_t enter(model::process_state const& process, model::event const& e);
    stream_state& state_of(std::uint32_t number) { return streams_.at(number); }

    void made(model::event const& e);
    void give(model::process_state const& process, model::event const& e);
    void wait_for(std::uint32_t stream, clock const& what);
    void host_waits(clock const& what) { host_.join(what); }
    void host_waits_for_event(model::process_state const& process, model::event const& e);
    void host_waits_for_context(model::process_state const& process, model::event const& e);
    void stream_waits_for_event(model::process_state const& process, model::event const& e, std::uint32_t stream);
    void record(model::process_state const& process, model::event const& e, std::uint32_t stream);
    void launch(model::event const& e, std::uint32_t stream);
    void signal_or_wait(model::event const& e, std::uint32_t stream);
    void callback_begins(model::event const& e);

    clock everything_before(std::uint32_t stream, moment until) const;
    clock everything_in(model::process_state const& process, moment until) const;
    bool covers(clock const& what, point const& earlier, stream_state const& of) const;
    void prune(clock& what) const;
    void compact_host();
    void forget(std::uint32_t stream);

    std::uint32_t last_number_ = 0;
    std::unordered_map<model::stream_identity, std::uint32_t, model::hash_stream> numbers_;
    std::unordered_map<std::uint32_t, stream_state> streams_;
    std::unordered_map<std::uint32_t, context_state> contexts_;
    std::unordered_map<model::object_id, stream_state> made_;  // created streams before their first work
    std::unordered_map<model::object_id, std::shared_ptr<clock const>> records_;   // latest record of each event
    std::unordered_map<model::object_id, std::shared_ptr<clock const>> launches_;  // latest launch of each exec
    std::unordered_map<callback, std::deque<std::shared_ptr<clock const>>, hash_callback> callbacks_;
    std::deque<std::uint32_t> gone_;
    std::unordered_map<store::process_id, clock> signalled_;  // through memory and semaphores
    std::unordered_map<store::process_id, bool> graphs_record_events_;
    clock host_;
};

}  // namespace lastref::timeline
