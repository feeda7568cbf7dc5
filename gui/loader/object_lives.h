// What every handle meant, and when: handles are handed out again, so each of its lives is an object of its own.
#pragma once

#include "analyzer/model/observer.h"

#include <cstdint>
#include <vector>

namespace lastref::gui::scenes {
struct kept_access;
}

namespace lastref::gui {

struct object_life {
    store::handle handle = 0;
    store::event_id created;  // none: it was there before, or came from an unknown call
    store::event_id gone;     // none: it was alive at the end
    std::uint64_t bytes = 0;
    store::process_id process;
    model::object_kind kind = model::object_kind::count;
    model::release_cause cause = model::release_cause::call;  // where it is gone
};
static_assert(sizeof(object_life) == 40);

// Of all objects, by process and handle, then in order. Forty bytes each; immutable.
class object_lives {
  public:
    std::vector<object_life> of(store::process_id process, store::handle handle) const;
    std::size_t size() const { return all_.size(); }

  private:
    friend class object_lives_builder;
    friend struct scenes::kept_access;
    std::vector<object_life> all_;
};

class object_lives_builder : public model::observer {
  public:
    explicit object_lives_builder(object_lives& to) : to_(to) {}

    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;
    void finish();  // after the pass

  private:
    void add(model::object const& object, store::event_id gone, model::release_cause cause);
    object_lives& to_;
};

}  // namespace lastref::gui
