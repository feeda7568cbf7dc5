// How a process ended: from the last call of main to the end, by phase what was released, what failed, which
// destructors ran, and what was left; what is left on purpose stands apart.
#pragma once

#include "gui/scenes/pass.h"
#include "gui/scenes/timeline.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace lastref::gui::scenes {

// Objects or calls of one sort.
struct shutdown_item {
    std::string what;  // "stream-ordered memory"; of a failed call the entry point
    std::string how;   // entry point of the release; of a failed call the result; empty for what is left
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    store::event_id first;  // the first of these calls; of what is left, the first one's creation
};

enum class shutdown_step : std::uint8_t { main, exit_handlers, after_driver };

struct shutdown_phase {
    shutdown_step step = shutdown_step::main;
    time_ns begin = 0, end = 0;
    std::vector<shutdown_item> released;
    std::vector<shutdown_item> failed;
    std::vector<shutdown_item> destructors;  // of user objects
};

struct shutdown_process {
    store::process_id process;
    std::string name;                    // "demo (pid 4711)"
    std::string ended;                   // "exit status 0"; how it ended
    bool orderly = false;                // its exit handlers ran
    std::vector<shutdown_phase> phases;  // those that it got to
    std::vector<shutdown_item> left;
    std::vector<shutdown_item> intended;
    std::uint64_t left_bytes = 0;
};

struct shutdown {
    std::vector<shutdown_process> processes;  // that used the driver
};

// Whether an object is meant to be left: an annotation, or a suppression, may say so.
using intended_leak = std::function<bool(model::object const&)>;

class shutdown_builder : public model::observer {
  public:
    explicit shutdown_builder(store::trace const& trace, intended_leak meant = {});

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

    std::shared_ptr<shutdown const> take();  // after the pass; once

  private:
    using key = std::pair<std::string, std::string>;
    struct items {
        std::map<key, shutdown_item> by_key;
        void add(std::string what, std::string how, std::uint64_t bytes, store::event_id event);
        std::vector<shutdown_item> sorted() const;  // most bytes first, then most of them
        void clear() { by_key.clear(); }
    };
    struct phase_items {
        items released, failed, destructors;
        time_ns last = 0;
        bool any = false;
    };
    struct ending {
        time_ns last_main_call = 0;
        std::array<phase_items, 3> phases;
        items left, intended;
        std::uint64_t left_bytes = 0;
        bool used = false;
    };
    void leave(ending& of, model::object const& o) const;
    void add_phases(shutdown_process& out, ending const& of) const;

    store::trace const& trace_;
    intended_leak meant_;
    std::map<store::process_id, ending> endings_;
};

std::shared_ptr<shutdown const> build_shutdown(store::trace const& trace, watch const& tell = {},
                                               intended_leak meant = {});

}  // namespace lastref::gui::scenes
