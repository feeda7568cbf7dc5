// External semaphores: their values live in this process only.
#include <unistd.h>

#include "tests/simdriver/api/node_work.h"

namespace lastref::simdriver::api {

CUresult cuImportExternalSemaphore(call const&, CUexternalSemaphore* out,
                                   CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC const* from) {
    if (any_null(out, from)) return CUDA_ERROR_INVALID_VALUE;
    bool const timeline = from->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    if (!timeline && from->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD) return CUDA_ERROR_NOT_SUPPORTED;
    auto made = std::make_shared<external_semaphore>();
    made->timeline = timeline;
    close(from->handle.fd);  // the descriptor becomes the driver's
    *out = semaphores().add(made);
    return CUDA_SUCCESS;
}

CUresult cuDestroyExternalSemaphore(call const&, CUexternalSemaphore handle) {
    return semaphores().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuSignalExternalSemaphoresAsync(call const& c, CUexternalSemaphore const* handles,
                                         CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS const* params, unsigned int count,
                                         CUstream token) {
    stream_ptr on;
    work what;
    SIM_TRY(signal_from(handles, params, count, what));
    SIM_TRY(resolve(c, token, on));
    return enqueue(c, on, std::move(what));
}

CUresult cuWaitExternalSemaphoresAsync(call const& c, CUexternalSemaphore const* handles,
                                       CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS const* params, unsigned int count,
                                       CUstream token) {
    stream_ptr on;
    work what;
    SIM_TRY(await_from(handles, params, count, what));
    SIM_TRY(resolve(c, token, on));
    return enqueue(c, on, std::move(what));
}

}  // namespace lastref::simdriver::api
