// Payloads whose destructor ran and whose memory is not freed yet: what waits for a deferred clean-up. Which memory a
// user object stands for is inferred (payload_links.h); what stands for none that is known is not in here.
#pragma once

#include "analyzer/detectors/payload_links.h"

#include <map>
#include <optional>
#include <unordered_map>

namespace lastref::detectors {

struct waiting_payload {
    model::object memory;
    model::origin destructor;
    bool by_address = false;  // else inferred by nearness
};

// Of one process, kept up to date by its owner from one pass over the events.
class waiting_payloads {
  public:
    // A destructor ran, of the user object that the link is of. False where its memory waits already.
    bool destructor_ran(payload_link const& link, model::event const& e) {
        if (!of_memory_.try_emplace(link.memory.id, e.row.id).second) return false;
        waiting_[e.row.id] = {link.memory, e.where(), link.by_address};
        bytes_ += link.memory.bytes;
        inferred_ += link.by_address ? 0 : 1;
        return true;
    }

    bool contains(model::object_id memory) const { return of_memory_.contains(memory); }

    // The memory is gone; what had waited, or nothing where it did not.
    std::optional<waiting_payload> gone(model::object_id memory) {
        auto const known = of_memory_.find(memory);
        if (known == of_memory_.end()) return {};
        auto node = waiting_.extract(known->second);
        of_memory_.erase(known);
        bytes_ -= node.mapped().memory.bytes;
        inferred_ -= node.mapped().by_address ? 0 : 1;
        return std::move(node.mapped());
    }

    std::size_t size() const { return waiting_.size(); }
    std::uint64_t bytes() const { return bytes_; }
    bool all_by_address() const { return inferred_ == 0; }
    waiting_payload const& oldest() const { return waiting_.begin()->second; }  // of those that wait: not empty

  private:
    std::map<store::event_id, waiting_payload> waiting_;  // by destructor: the first has waited longest
    std::unordered_map<model::object_id, store::event_id> of_memory_;
    std::uint64_t bytes_ = 0;
    std::uint64_t inferred_ = 0;
};

}  // namespace lastref::detectors
