#include "tests/simdriver/core/user_objects.h"

#include <algorithm>

#include "tests/simdriver/core/driver.h"

namespace lastref::simdriver {

handle_table<CUuserObject, user_object>& user_objects() {
    static auto* const table = new handle_table<CUuserObject, user_object>;
    return *table;
}

std::unordered_set<CUuserObject>& gone_user_objects() {
    static auto* const handles = new std::unordered_set<CUuserObject>;
    return *handles;
}

void release(user_object_ptr const& from, unsigned count) {
    from->references -= count;
    if (from->references != 0) return;
    user_objects().remove(from->handle);
    gone_user_objects().insert(from->handle);
    auto const destroy = [from] { from->destroy(from->payload); };
    thread_state& self = this_thread();
    if (self.in_call && driver().set.callback.count() == 0) {
        self.due.emplace_back(destroy);
        return;
    }
    auto const work = std::make_shared<operation>();
    work->where = lane::destructor;
    work->body = destroy;
    driver().work.submit(work, {});
}

reference_set::reference_set(reference_set const& other) : held_(other.held_) {
    for (auto const& [object, count] : held_) object->references += count;
}

reference_set::~reference_set() {
    for (auto const& [object, count] : held_) release(object, count);
}

void reference_set::take(user_object_ptr const& object, unsigned count) {
    if (auto const found = find(object); found != held_.end())
        found->second += count;
    else
        held_.emplace_back(object, count);
}

std::vector<reference_set::share>::iterator reference_set::find(user_object_ptr const& object) {
    return std::find_if(held_.begin(), held_.end(), [&object](share const& each) { return each.first == object; });
}

void reference_set::give_up(user_object_ptr const& object, unsigned count) {
    if (auto const found = find(object); found != held_.end()) {
        found->second -= std::min(count, found->second);
        if (found->second == 0) held_.erase(found);
    }
    release(object, count);
}

}  // namespace lastref::simdriver
