// Makes the timeline out of a pass over the events.
#pragma once

#include "analyzer/model/observer.h"
#include "gui/scenes/pass.h"
#include "gui/scenes/timeline.h"

#include <map>
#include <unordered_map>

namespace lastref::gui::scenes {

class timeline_builder : public model::observer {
  public:
    explicit timeline_builder(store::trace const& trace);

    void on_event(model::process_state const& process, model::event const& e) override;

    // After the pass; once.
    std::shared_ptr<call_timeline const> take();

  private:
    track& stream_track(model::event const& e);
    track& callback_track(store::process_id process);
    void name_stream(track& t, model::event const& e);
    void name_contexts(std::vector<model::stream_identity> const& streams);
    void add_ranges();
    void add_marks();
    void arrange();
    std::string thread_label(store::thread_id id) const;

    store::trace const& trace_;
    std::shared_ptr<call_timeline> made_;
    std::unordered_map<store::thread_id, track> threads_;
    std::map<store::process_id, track> callbacks_;
    std::map<store::process_id, track> range_tracks_;
    std::map<store::process_id, std::vector<model::stream_identity>> order_of_streams_;
    std::unordered_map<model::stream_identity, track, model::hash_stream> streams_;
    std::map<std::pair<store::process_id, store::handle>, int> handles_;  // how many streams had it
};

std::shared_ptr<call_timeline const> build_timeline(store::trace const& trace, watch const& tell = {});

using lastref::curves::marks_of;

}  // namespace lastref::gui::scenes
