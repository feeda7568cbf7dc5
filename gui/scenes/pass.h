// The one pass over a trace that builders of scenes listen to, for those that need one of their own. Builders are
// observers: whoever makes a pass anyway adds them there instead, behind the order, the links and the ledger.
#pragma once

#include "analyzer/detectors/payload_links.h"
#include "analyzer/ledger/accountant.h"
#include "analyzer/model/world.h"
#include "analyzer/timeline/uses.h"

#include <exception>
#include <functional>
#include <vector>

namespace lastref::gui::scenes {

// Told now and then of the share that is done, 0 to 1; returns whether to go on. May be empty.
using watch = std::function<bool(double)>;

class cancelled : public std::exception {
  public:
    char const* what() const noexcept override { return "cancelled"; }
};

// A pass with what builders ask. Throws store::error, and `cancelled` where the watch says so.
class pass {
  public:
    explicit pass(store::trace const& trace);

    timeline::order const& order() const { return order_; }
    ledger::accountant const& accountant() const { return accountant_; }
    detectors::payload_links const& links() const { return links_; }

    void add(model::observer& builder) { world_.add(builder); }
    void run(watch const& tell);

  private:
    model::world world_;
    timeline::order order_;
    detectors::payload_links links_;
    ledger::accountant accountant_{order_};
};

}  // namespace lastref::gui::scenes
