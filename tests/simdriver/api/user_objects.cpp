// User objects.
#include "tests/simdriver/core/user_objects.h"
#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {
namespace {

CUresult find(CUuserObject handle, unsigned count, user_object_ptr& out) {
    out = user_objects().find(handle);
    return out && count && count <= INT32_MAX ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

namespace api {

CUresult cuUserObjectCreate(call const&, CUuserObject* out, void* payload, CUhostFn destroy, unsigned int count,
                            unsigned int flags) {
    if (!out || !destroy || !count || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<user_object>();
    made->payload = payload;
    made->destroy = destroy;
    made->references = count;
    *out = user_objects().add(made);
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(call const&, CUuserObject handle, unsigned int count) {
    user_object_ptr object;
    SIM_TRY(find(handle, count, object));
    object->references += count;
    return CUDA_SUCCESS;
}

// More than there are: success, and the destructor never runs, or not again.
CUresult cuUserObjectRelease(call const&, CUuserObject handle, unsigned int count) {
    user_object_ptr object;
    if (count && !user_objects().find(handle) && gone_user_objects().contains(handle)) return CUDA_SUCCESS;
    SIM_TRY(find(handle, count, object));
    release(object, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(call const&, CUgraph to, CUuserObject handle, unsigned int count, unsigned int flags) {
    user_object_ptr object;
    auto const keeper = graphs().find(to);
    if (!keeper || flags & ~static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE)) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, count, object));
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) object->references += count;
    keeper->references->take(object, count);
    return CUDA_SUCCESS;
}

// Success also when the graph holds no such reference. (The real driver may then crash at a later cuGraphDestroy.)
CUresult cuGraphReleaseUserObject(call const&, CUgraph from, CUuserObject handle, unsigned int count) {
    user_object_ptr object;
    auto const keeper = graphs().find(from);
    if (!keeper) return CUDA_ERROR_INVALID_VALUE;
    SIM_TRY(find(handle, count, object));
    keeper->references->give_up(object, count);
    return CUDA_SUCCESS;
}

}  // namespace api
}  // namespace lastref::simdriver
