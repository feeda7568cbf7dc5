// pool-retention: memory that pools hold on to: a pool destroyed in use, a trim while frees were pending, and what the
// program's own queries said of reserved and used bytes.
#pragma once

#include "analyzer/detectors/groups.h"

#include <optional>

namespace lastref::detectors {

class pool_retention : public detector {
  public:
    using detector::detector;

    void on_event(model::process_state const& process, model::event const& e) override;
    void on_process_end(model::process_state const& process) override;

  private:
    // Frees that may not have been complete; more than these are not counted.
    static constexpr std::size_t most_pending = 4096;
    static constexpr std::uint64_t much = 64u << 20;  // unused bytes that are worth a line

    enum class how : std::uint8_t { destroyed_in_use, trimmed_too_early, reserved_unused, graph_memory_unused };
    struct retention {
        how what = how::destroyed_in_use;
        model::origin call;
        model::origin other;  // an allocation, or a free that was pending
        std::uint64_t pieces = 0;
        std::uint64_t bytes = 0;
        std::uint64_t used = 0;
    };
    struct free_pending {
        timeline::point work;
        std::uint64_t bytes = 0;
        model::origin call;
    };
    struct readings {
        std::optional<std::uint64_t> reserved;
        std::optional<std::uint64_t> used;
        model::origin call;
    };
    using pool_of_process = std::pair<store::process_id, store::handle>;  // 0: a device's current pool

    void destroyed(model::process_state const& process, model::event const& e);
    void freed(model::event const& e);
    void trimmed(model::event const& e);
    void read(readings& into, bool reserved, bool used, model::event const& e);
    void look_at_readings(model::process_state const& process);
    void add(store::process_id process, retention const& found);
    void report(model::process_state const& process, std::uint64_t key, groups<retention>::group const& g);
    void describe(finding& out, retention const& f) const;

    std::map<pool_of_process, std::vector<free_pending>> pending_;
    std::map<pool_of_process, retention> too_early_;  // until a later trim finds nothing pending
    std::map<pool_of_process, readings> pools_;
    std::map<pool_of_process, readings> graph_memory_;                  // by device
    std::map<store::process_id, std::vector<store::handle>> defaults_;  // default and current pools of devices
    groups<retention> groups_;
};

}  // namespace lastref::detectors
