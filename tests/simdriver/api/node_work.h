// From the parameters of a node, in each form that the API has for them, to its work, and back.
#pragma once

#include "tests/simdriver/api/common.h"

namespace lastref::simdriver {

// Each checks its arguments. `into` is the graph that the node is in or will be in.
CUresult kernel_from(CUDA_KERNEL_NODE_PARAMS const* params, work& out);
CUresult kernel_from(CUDA_KERNEL_NODE_PARAMS_v1 const* params, work& out);
CUresult copy_from(CUDA_MEMCPY3D const* params, CUcontext ctx, work& out);
CUresult set_from(CUDA_MEMSET_NODE_PARAMS const* params, CUcontext ctx, work& out);
CUresult host_from(CUDA_HOST_NODE_PARAMS const* params, work& out);
CUresult child_from(CUgraph child, work& out);
CUresult record_from(CUevent handle, work& out);
CUresult wait_from(CUevent handle, work& out);
CUresult alloc_from(CUDA_MEM_ALLOC_NODE_PARAMS* params, work& out);
CUresult free_from(graph const& into, CUdeviceptr address, work& out);
CUresult batch_from(CUDA_BATCH_MEM_OP_NODE_PARAMS const* params, work& out);
CUresult conditional_from(graph& into, CUDA_CONDITIONAL_NODE_PARAMS const& params, work& out);
CUresult signal_from(CUexternalSemaphore const* handles, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS const* params,
                     unsigned count, work& out);
CUresult await_from(CUexternalSemaphore const* handles, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS const* params,
                    unsigned count, work& out);
CUresult work_from(graph& into, CUgraphNodeParams* params, work& out);

}  // namespace lastref::simdriver
