#include "tests/simdriver/core/streams.h"

#include "tests/simdriver/core/contexts.h"
#include "tests/simdriver/core/driver.h"
#include "tests/simdriver/core/pools.h"

namespace lastref::simdriver {
namespace {

template <class Visit>
void each_blocking(context const& owner, Visit visit) {
    for (auto const& each : owner.streams)
        if (each->blocking()) visit(*each);
    for (auto const& [thread, each] : owner.per_thread) visit(*each);
}

stream_ptr per_thread_stream(call const& c, context& owner) {
    stream_ptr& mine = owner.per_thread[c.self.id];
    if (!mine) mine = make_stream(owner, stream::role::per_thread, CU_STREAM_DEFAULT, 0);
    return mine;
}

bool means_per_thread(call const& c, CUstream token) {
    return token == CU_STREAM_PER_THREAD || (!token && c.per_thread);
}

}  // namespace

stream_ptr make_stream(context& owner, stream::role kind, unsigned flags, int priority) {
    auto made = std::make_shared<stream>();
    made->id = ++driver().last_stream_id;
    made->owner = owner.weak_from_this();
    made->kind = kind;
    made->flags = flags;
    made->priority = priority;
    return made;
}

CUresult resolve(call const& c, CUstream token, stream_ptr& out) {
    if (token && token != CU_STREAM_LEGACY && token != CU_STREAM_PER_THREAD) {
        out = driver().streams.find(token);
        if (!out) return CUDA_ERROR_INVALID_HANDLE;
        auto const owner = out->owner.lock();
        return owner ? owner->fault->load() : CUDA_SUCCESS;
    }
    context_ptr current;
    if (CUresult const result = current_context(c, current); result != CUDA_SUCCESS) return result;
    out = means_per_thread(c, token) ? per_thread_stream(c, *current) : current->legacy;
    return CUDA_SUCCESS;
}

std::vector<operation_ptr> before_next(stream const& on) {
    std::vector<operation_ptr> before{on.last};
    auto const owner = on.owner.lock();
    if (!owner || !on.blocking()) return before;
    if (on.kind != stream::role::legacy) {
        before.push_back(owner->legacy->last);
        return before;
    }
    each_blocking(*owner, [&before](stream const& each) { before.push_back(each.last); });
    before.insert(before.end(), owner->left_behind.begin(), owner->left_behind.end());
    return before;
}

void submit(stream& on, operation_ptr const& work, std::vector<operation_ptr> also_after) {
    for (auto& each : before_next(on)) also_after.push_back(std::move(each));
    if (auto const owner = on.owner.lock()) work->fault = owner->fault;
    driver().work.submit(work, also_after);
    on.last = work;
}

void leave_behind(context& owner, stream const& gone) {
    auto& left = gone.blocking() ? owner.left_behind : owner.left_apart;
    std::erase_if(left, [](operation_ptr const& each) { return each->done; });
    if (gone.last && !gone.last->done) left.push_back(gone.last);
}

bool idle(stream const& on) {
    for (auto const& each : on.kind == stream::role::legacy ? before_next(on) : std::vector{on.last})
        if (each && !each->done) return false;
    return true;
}

std::vector<stream_ptr> streams_of(context const& owner) {
    std::vector<stream_ptr> all = owner.streams;
    all.push_back(owner.legacy);
    for (auto const& [thread, each] : owner.per_thread) all.push_back(each);
    return all;
}

std::vector<operation_ptr> work_of(context const& owner) {
    std::vector<operation_ptr> work = owner.left_behind;
    work.insert(work.end(), owner.left_apart.begin(), owner.left_apart.end());
    for (auto const& each : streams_of(owner))
        if (each->last) work.push_back(each->last);
    return work;
}

void wait_for(call const& c, operation_ptr const& work) {
    driver().progress.wait(c.lock, [&work] { return work->done || driver().life == phase::torn_down; });
}

void synchronize(call const& c, stream& on) {
    auto const before = on.kind == stream::role::legacy ? before_next(on) : std::vector{on.last};
    for (auto const& each : before)
        if (each) wait_for(c, each);
    settle_pools(&on);
}

void synchronize(call const& c, context& all) {
    for (auto const& each : work_of(all)) wait_for(c, each);
    // Others may have left more while this one waited.
    for (auto* const left : {&all.left_behind, &all.left_apart})
        std::erase_if(*left, [](operation_ptr const& each) { return each->done; });
    settle_pools();
}

void synchronize(call const& c, device const& all) {
    std::vector<operation_ptr> work;
    driver().contexts.for_each([&](context_ptr const& each) {
        if (each->owner != &all || !each->alive) return;
        for (auto const& one : work_of(*each)) work.push_back(one);
    });
    for (auto const& each : work) wait_for(c, each);
    settle_pools();
}

}  // namespace lastref::simdriver
