// Who held references to each payload (user object), and when: written down in one pass for all of them, told for one.
#pragma once

#include "gui/scenes/pass.h"
#include "gui/scenes/timeline.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lastref::gui::scenes {

enum class holder_kind : std::uint8_t { program, graph, child_graph, graph_exec, child_exec, launch };

struct reference_step {
    time_ns at = 0;
    std::int64_t count = 0;  // from then on; of the program possibly below zero: it gave back what it had moved away
};

// Somebody who held references at some time.
struct holder {
    holder_kind kind = holder_kind::program;
    std::string name;  // "graph 0x90"
    store::handle handle = 0;
    store::event_id made;
    time_ns made_at = 0;
    std::optional<time_ns> gone_at;
    std::optional<std::size_t> source;  // among the story's holders: whose references it took over
    std::vector<reference_step> references;
    std::uint64_t launches = 0;  // of an executable graph
    time_ns last_launch = 0;
    std::string last_stream;  // "stream 0x50"

    std::int64_t count_at(time_ns at) const;
};

// One payload's life.
struct payload_story {
    std::uint32_t object = 0;  // model::object_id
    store::handle handle = 0;
    store::handle payload = 0;
    store::event_id created;
    time_ns created_at = 0;
    std::optional<time_ns> destructor_at;
    std::optional<time_ns> freed_at;  // the memory that it stood for
    std::uint64_t bytes = 0;          // of that memory, 0 where none is known
    std::vector<holder> holders;      // the program first, then in the order in which they were made
    std::vector<mark> marks;
    time_ns end = 0;  // of what is recorded

    std::int64_t references_at(time_ns at) const;
    time_ns held_until() const;   // the last moment with references: the end, or just before the last one went
    std::string verdict() const;  // "1 reference is left: executable graph 0x91 holds it", a sentence
};

// All payloads of a trace; immutable.
class payload_stories {
  public:
    struct payload {
        std::uint32_t object = 0;
        store::event_id created;
        time_ns created_at = 0;
        store::handle handle = 0;
        store::handle payload_handle = 0;
        std::optional<time_ns> destructor_at;
        std::optional<time_ns> freed_at;
        std::uint64_t bytes = 0;
    };
    std::vector<payload> const& payloads() const { return payloads_; }  // in the order of creation

    std::optional<std::size_t> find(store::event_id created) const;
    std::shared_ptr<payload_story const> story(std::size_t payload) const;

  private:
    friend class holders_builder;
    friend struct kept_access;
    struct owner {
        model::object_id id;  // none: the program
        holder_kind kind = holder_kind::program;
        store::handle handle = 0;
        store::event_id made;
        time_ns made_at = 0;
        std::optional<time_ns> gone_at;
        std::optional<std::uint32_t> source;
        std::uint64_t launches = 0;
        time_ns last_launch = 0;
        std::string last_stream;
    };
    struct change {
        std::uint32_t payload = 0;
        std::uint32_t owner = 0;
        time_ns at = 0;
        std::int64_t count = 0;
    };
    holder holder_of(owner const& from) const;
    std::size_t add_holder(payload_story& out, std::vector<std::uint32_t>& indices, std::uint32_t number,
                           int depth = 0) const;
    // A graph may be the clone of a clone, and so on for ever: so far back it is of interest.
    static constexpr int deepest_source = 32;

    std::vector<payload> payloads_;
    std::vector<owner> owners_;    // the first is the program
    std::vector<change> changes_;  // by payload, then in order
    std::vector<mark> marks_;
    time_ns end_ = 0;
};

// To be told of events after order, links and ledger.
class holders_builder : public model::observer {
  public:
    holders_builder(store::trace const& trace, ledger::accountant const& accountant,
                    detectors::payload_links const& links);

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_owner_copied(model::process_state const& process, model::object const& from, model::object const& to,
                         model::event const& e) override;
    void on_owner_gone(model::process_state const& process, model::object const& owner, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

    std::shared_ptr<payload_stories const> take();  // after the pass; once

  private:
    struct holding {
        std::uint32_t owner = 0;
        std::int64_t count = 0;
    };
    void created(model::process_state const& process, model::event const& e);
    void destructor(model::process_state const& process, model::event const& e);
    void launched(model::event const& e);
    void compare(model::process_state const& process, std::uint32_t payload, time_ns at);
    void set(std::uint32_t payload, std::uint32_t owner, std::int64_t count, time_ns at);
    std::uint32_t owner_of(model::process_state const& process, model::object_id id);
    std::uint32_t add_owner(model::object const& o, holder_kind kind);
    void compare_all_of(model::process_state const& process, model::object_id owner, time_ns at);
    void link(std::uint32_t payload, model::object_id object);

    store::trace const& trace_;
    ledger::accountant const& accountant_;
    detectors::payload_links const& links_;
    std::shared_ptr<payload_stories> made_;
    std::unordered_map<model::object_id, std::uint32_t> payloads_;  // live ones
    std::unordered_map<model::object_id, std::uint32_t> owners_;
    std::unordered_map<std::uint32_t, std::unordered_set<std::uint32_t>> held_by_;  // payloads, by owner
    std::unordered_map<std::uint32_t, std::vector<holding>> now_;                   // owners, by live payload
    std::unordered_map<model::object_id, std::uint32_t> payload_of_memory_;
    std::unordered_set<std::uint32_t> in_flight_;  // payloads that a launch holds
};

std::shared_ptr<payload_stories const> build_payload_stories(store::trace const& trace, watch const& tell = {});

}  // namespace lastref::gui::scenes
