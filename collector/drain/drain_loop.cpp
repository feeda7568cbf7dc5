#include "collector/drain/drain_loop.h"

#include <memory>
#include <thread>

#include "collector/drain/cupti_files.h"

namespace lastref::drain {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_nap{2};
constexpr milliseconds longest_nap{20};
constexpr milliseconds after_failure{500};
constexpr int most_failures = 20;  // in a row, 10 seconds: then the disk is taken for full for good

class drain_loop {
  public:
    drain_loop(std::filesystem::path const& folder, std::vector<std::filesystem::path> const& spools, trace_file& trace,
               drain_control& control, drain_limits const& limits)
        : folder_(folder), spools_(spools), trace_(trace), control_(control), limits_(limits) {}

    drain_outcome run() {
        while (step()) {
        }
        collect_outcome();
        return std::move(outcome_);
    }

  private:
    // One pass and a nap; false when all is done.
    bool step() {
        try {
            if (!drain_) start();
            bool const more = control_.more_may_come();  // before the pass, so that what came until now is in it
            control_.report_exits(*drain_);
            auto const progress = drain_->pass();
            failures_ = 0;
            control_.progressed(drain_->records_read());
            if (progress == folder_drain::progress::idle && !more && !drain_->any_alive() && drain_->empty())
                return finish();
            if (progress != folder_drain::progress::backlog && control_.out_of_patience()) return leave();
            nap(progress);
            return true;
        } catch (database_error const& error) {
            return survive(error);
        }
    }

    void start() {
        drain_ = std::make_unique<folder_drain>(folder_, trace_, limits_);
        for (auto const& spool : spools_) drain_->add(spool);
    }

    void nap(folder_drain::progress progress) {
        if (progress == folder_drain::progress::backlog) return;
        nap_ = progress == folder_drain::progress::some ? shortest_nap : std::min(nap_ * 2, longest_nap);
        control_.sleep(nap_);
    }

    bool leave() {
        drain_->leave_unfinished();
        return finish();
    }

    // A spool that is named and not there any more (a folder in memory, and the machine was started anew) is not
    // complete either.
    bool finish() {
        statement open(trace_.db(), "SELECT EXISTS (SELECT 1 FROM process WHERE spool IS NOT NULL)");
        bool const complete = open.next() && open.integer(0) == 0;
        trace_.set_meta("state", complete ? "complete" : "unfinished");
        if (complete) trace_.remove_meta("spool_folder");
        return false;
    }

    // Everything since the last commit is gone from the trace and still in the spools.
    bool survive(database_error const& error) {
        if (drain_) outcome_.unreadable = drain_->unreadable();
        drain_.reset();
        if (++failures_ >= most_failures ||
            (error.code() != SQLITE_FULL && error.code() != SQLITE_BUSY && failures_ > 3)) {
            outcome_.error = error.what();
            return false;
        }
        control_.sleep(after_failure);
        return true;
    }

    void collect_outcome() {
        if (drain_) {
            outcome_.counts = drain_->counts();
            outcome_.unreadable = drain_->unreadable();
            drain_.reset();
        }
        try {
            take_cupti_files(folder_, trace_);
            trace_.close_log();
        } catch (database_error const& error) {
            if (outcome_.error.empty()) outcome_.error = error.what();
        }
    }

    std::filesystem::path folder_;
    std::vector<std::filesystem::path> spools_;
    trace_file& trace_;
    drain_control& control_;
    drain_limits limits_;
    std::unique_ptr<folder_drain> drain_;
    drain_outcome outcome_;
    milliseconds nap_ = shortest_nap;
    int failures_ = 0;
};

}  // namespace

drain_outcome drain_all(std::filesystem::path const& folder, std::vector<std::filesystem::path> const& spools,
                        trace_file& trace, drain_control& control, drain_limits const& limits) {
    return drain_loop(folder, spools, trace, control, limits).run();
}

}  // namespace lastref::drain
