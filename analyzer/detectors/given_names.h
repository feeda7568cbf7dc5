// What the program calls its streams, contexts and events (NVTX). Handles are handed out again, so a name belongs to
// the life that its handle stood for when it was given; threads have theirs in the trace's own table already.
#pragma once

#include "analyzer/model/process_state.h"
#include "analyzer/store/trace.h"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lastref::detectors {

// To be told before those who ask, and to be asked when a process ends. Names are read along with the events; those of
// objects that are gone are kept for the newest few thousand.
class given_names : public model::observer {
  public:
    explicit given_names(store::trace const& trace);

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const&, model::object const& gone, model::event const&,
                     model::release_cause) override;
    void on_process_end(model::process_state const&) override;

    // What it was called at `at`; before it had a name, the first that it got. Empty where it never had one.
    std::string_view of(model::object_id object, store::event_id at) const;
    std::string_view of(store::context_id context, store::event_id at) const;

    // What the program calls a process's main thread, which reports call by its part in the process; else empty.
    std::string_view of_main_thread(store::thread_id thread) const;

  private:
    static constexpr std::size_t remembered = 1 << 14;
    static constexpr std::size_t most_names = 8;  // of one object; older ones are forgotten, but for the first

    struct given {
        store::event_id since;
        std::string name;
    };
    using names = std::vector<given>;
    struct contexts_of_handle {
        store::event_id made;    // the newest context of that handle; none: not in the recording
        store::event_id used;    // the newest use of one
        store::context_id last;  // that was used then
        names waiting;           // given since the newest was made, which was not used yet
    };
    using handle_in_process = std::pair<store::process_id, store::handle>;
    struct hash_handle {
        std::size_t operator()(handle_in_process const& h) const noexcept {
            return std::hash<store::handle>{}(h.second * 31 + h.first.value);
        }
    };

    static std::string_view at(names const& all, store::event_id when);
    static void add(names& to, given_names::given next);
    void read_next();
    void catch_up(store::event_id before);  // takes names given before the event
    void take(store::given_name const& next);
    void name_object(store::given_name const& next, model::handle_space space);
    void name_context(store::given_name const& next);
    void see_context(model::process_state const& process, model::event const& e);

    store::trace const& trace_;
    store::given_name_reader reader_;
    store::given_name next_;
    bool any_ = false, more_ = false;
    std::unordered_map<store::process_id, model::process_state const*> processes_;
    std::unordered_map<model::object_id, names> objects_;
    std::deque<model::object_id> gone_;
    std::unordered_map<store::context_id, names> contexts_;
    std::unordered_map<handle_in_process, contexts_of_handle, hash_handle> handles_;
    std::unordered_map<store::thread_id, std::string> main_threads_;
};

}  // namespace lastref::detectors
