#include "analyzer/model/world.h"

namespace lastref::model {

world::world(store::trace const& trace) : trace_(trace) {
    auto const next_id = [this] { return last_id_ = object_id{last_id_.value + 1}; };
    for (auto const& process : trace.processes()) {
        processes_.push_back(std::make_unique<process_state>(trace, process, next_id, observers_));
        if (by_id_.size() <= process.id.value) by_id_.resize(process.id.value + 1);
        by_id_[process.id.value] = processes_.back().get();
    }
}

void world::take(store::event const& row) {
    auto const process = trace_.at(row.thread).process;
    by_id_[trace_.at(process).id.value]->take(row);
}

void world::run(std::function<void(double)> const& progress) {
    auto reader = trace_.events();
    std::vector<store::event> batch;
    auto const all = static_cast<double>(trace_.event_count());
    while (reader.next(batch)) {
        for (auto const& row : batch) take(row);
        if (progress && all > 0) progress(static_cast<double>(batch.back().id.value) / all);
    }
    for (auto const& each : processes_) each->finish();
}

}  // namespace lastref::model
