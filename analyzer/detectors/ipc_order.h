// ipc-order: memory of other processes that was opened more often than closed, or whose pool or exporter went first.
#pragma once

#include "analyzer/detectors/groups.h"

namespace lastref::detectors {

class ipc_order : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_released(model::process_state const& process, model::object const& gone, model::event const& e,
                     model::release_cause cause) override;
    void on_process_end(model::process_state const& process) override;

  private:
    enum class how : std::uint8_t { closed_too_seldom, pool_first, exporter_first };
    struct disorder {
        how what = how::closed_too_seldom;
        model::object memory;
        model::origin first;   // the import, or the export
        model::origin second;  // the latest import, or the call that came too early
        std::uint64_t opened = 0;
        std::uint64_t closed = 0;
    };
    struct import {
        model::object memory;
        model::origin latest;
        std::uint64_t opened = 0;
        std::uint64_t closed = 0;
    };
    struct export_ {
        store::process_id process;
        model::object memory;
        model::origin call;
    };
    void imported(model::event const& e);
    void pool_goes(model::process_state const& process, model::event const& e);
    void exporter_goes(model::process_state const& process, model::object const& gone, model::event const& e);
    std::uint64_t add(store::process_id process, disorder const& found);
    void report(model::process_state const& process, std::uint64_t key, groups<disorder>::group const& g);

    std::map<model::object_id, import> imports_;
    std::map<model::object_id, export_> exports_;
    std::map<std::uint64_t, std::vector<model::object_id>> ids_;
    groups<disorder> groups_;
};

}  // namespace lastref::detectors
