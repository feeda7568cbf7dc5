#include "analyzer/ledger/book.h"

#include <algorithm>
#include <utility>

namespace lastref::ledger {
namespace {

std::vector<holding>::iterator held_by(account& of, object_id owner) {
    return std::find_if(of.owners.begin(), of.owners.end(), [owner](holding const& h) { return h.owner == owner; });
}

}  // namespace

void book::create(object_id object, std::int64_t count) {
    accounts_[object] = {count, count, 0, {}};
}

void book::retain(object_id object, std::int64_t count) {
    auto const found = accounts_.find(object);
    if (found == accounts_.end()) return;
    found->second.caller += count;
    found->second.total += count;
}

void book::release(object_id object, std::int64_t count) {
    retain(object, -count);
}

void book::add(object_id owner, object_id object, std::int64_t count) {
    auto const found = accounts_.find(object);
    if (found == accounts_.end()) return;
    auto& account = found->second;
    account.total += count;
    auto const held = held_by(account, owner);
    if (held != account.owners.end()) return void(held->count += count);
    account.owners.push_back({owner, count});
    owned_[owner].push_back(object);
}

void book::retain_by(object_id owner, object_id object, std::int64_t count, bool move) {
    add(owner, object, count);
    if (move) release(object, count);
}

void book::release_by(object_id owner, object_id object, std::int64_t count) {
    auto const found = accounts_.find(object);
    if (found == accounts_.end()) return;
    auto& account = found->second;
    auto const held = held_by(account, owner);
    auto const given = held == account.owners.end() ? 0 : std::min(count, held->count);
    account.excess += count - given;
    account.total -= given;
    if (given == 0) return;
    held->count -= given;
    if (held->count > 0) return;
    account.owners.erase(held);
    auto const owned = owned_.find(owner);
    std::erase(owned->second, object);
    if (owned->second.empty()) owned_.erase(owned);
}

void book::copy(object_id from, object_id to) {
    auto const source = owned_.find(from);
    if (source == owned_.end()) return;
    auto const objects = source->second;
    for (auto const object : objects) {
        auto& account = accounts_.at(object);
        add(to, object, held_by(account, from)->count);
    }
}

void book::drop(object_id owner) {
    auto const found = owned_.find(owner);
    if (found == owned_.end()) return;
    auto const objects = std::move(found->second);
    owned_.erase(found);
    for (auto const object : objects) {
        auto& account = accounts_.at(object);
        auto const held = held_by(account, owner);
        account.total -= held->count;
        account.owners.erase(held);
    }
}

void book::hand_over(object_id from, object_id to) {
    copy(from, to);
    drop(from);
}

void book::close(object_id object) {
    auto const found = accounts_.find(object);
    if (found == accounts_.end()) return;
    for (auto const& held : found->second.owners) {
        auto const owned = owned_.find(held.owner);
        std::erase(owned->second, object);
        if (owned->second.empty()) owned_.erase(owned);
    }
    accounts_.erase(found);
}

account const* book::find(object_id object) const {
    auto const found = accounts_.find(object);
    return found == accounts_.end() ? nullptr : &found->second;
}

}  // namespace lastref::ledger
