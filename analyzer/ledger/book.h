// References of user objects by owner: double entry, without any notion of time or of the driver's calls.
//
// An owner is the caller (no id), or a graph, child graph, executable graph or launch in flight by its id. The driver
// counts references in total: a destructor is due when the total comes to exactly zero, whoever gave up the last one;
// below zero it is never run (measured, see docs/rules/user-object-over-release.md).
#pragma once

#include "analyzer/model/object.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace lastref::ledger {

using model::object_id;

struct holding {
    object_id owner;
    std::int64_t count = 0;
};

struct account {
    std::int64_t caller = 0;  // may be negative: references moved into a graph and released by the caller as well
    std::int64_t total = 0;
    std::int64_t excess = 0;  // references released by graphs that did not hold them
    std::vector<holding> owners;
};

class book {
  public:
    void create(object_id object, std::int64_t count);
    void retain(object_id object, std::int64_t count);
    void release(object_id object, std::int64_t count);
    void retain_by(object_id owner, object_id object, std::int64_t count, bool move);
    void release_by(object_id owner, object_id object, std::int64_t count);

    void copy(object_id from, object_id to);
    void drop(object_id owner);
    void hand_over(object_id from, object_id to);  // all of one owner's references become another's

    void close(object_id object);  // its destructor has run

    account const* find(object_id object) const;
    bool holds_any(object_id owner) const { return owned_.contains(owner); }

  private:
    void add(object_id owner, object_id object, std::int64_t count);

    std::unordered_map<object_id, account> accounts_;
    std::unordered_map<object_id, std::vector<object_id>> owned_;  // objects that an owner may hold
};

}  // namespace lastref::ledger
