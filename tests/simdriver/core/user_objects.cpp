#include "tests/simdriver/core/user_objects.h"

#include <algorithm>

#include "tests/simdriver/core/driver.h"

namespace lastref::simdriver {

handle_table<CUuserObject, user_object>& user_objects() {
    static auto* const table = new handle_table<CUuserObject, user_object>;
    return *table;
}

void release(user_object_ptr const& from, unsigned count) {
    from->references -= count;
    if (from->references != 0) return;
    user_objects().remove(from->handle);
    auto const work = std::make_shared<operation>();
    work->where = lane::callback;
    work->body = [from] { from->destroy(from->payload); };
    driver().work.submit(work, {});
}

reference_set::reference_set(reference_set const& other) : held_(other.held_) {
    for (auto const& [object, count] : held_) object->references += count;
}

reference_set::~reference_set() {
    for (auto const& [object, count] : held_) release(object, count);
}

unsigned reference_set::give_up(user_object_ptr const& object, unsigned count) {
    auto const found = held_.find(object);
    if (found == held_.end()) return 0;
    unsigned const given = std::min(count, found->second);
    found->second -= given;
    if (found->second == 0) held_.erase(found);
    release(object, given);
    return given;
}

}  // namespace lastref::simdriver
