#include "tests/simdriver/core/contexts.h"

#include "tests/simdriver/core/driver.h"
#include "tests/simdriver/core/memory.h"
#include "tests/simdriver/core/modules.h"
#include "tests/simdriver/core/streams.h"

namespace lastref::simdriver {
namespace {

void drop_streams_of(context& ending) {
    for (auto const& each : ending.streams) driver().streams.remove(each->handle);
    ending.streams.clear();
    ending.per_thread.clear();
}

void bring_to_life(context& made) {
    made.alive = true;
    made.id = ++driver().last_context_id;
    made.legacy = make_stream(made, stream::role::legacy, CU_STREAM_DEFAULT, 0);
}

}  // namespace

CUresult current_context(call const& c, context_ptr& out) {
    out = c.self.current();
    if (!out) return CUDA_ERROR_INVALID_CONTEXT;
    return out->alive ? out->fault->load() : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

device* find_device(CUdevice ordinal) {
    auto& devices = driver().devices;
    return ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices.size() ? nullptr : devices[ordinal].get();
}

context_ptr make_context(device& owner, unsigned flags) {
    auto made = std::make_shared<context>();
    made->owner = &owner;
    made->flags = flags;
    driver().contexts.add(made);
    bring_to_life(*made);
    return made;
}

void end_context(call const& c, context& ending) {
    synchronize(c, ending);
    if (ending.primary) ending.owner->fault = *ending.fault;
    ending.alive = false;
    drop_streams_of(ending);
    drop_modules_of(ending);
    free_memory_of(ending);
}

context_ptr retain_primary(device& owner) {
    if (!owner.primary) {
        owner.primary = make_context(owner, owner.primary_flags);
        owner.primary->primary = true;
    } else if (!owner.primary->alive) {
        bring_to_life(*owner.primary);
    }
    return owner.primary;
}

}  // namespace lastref::simdriver
