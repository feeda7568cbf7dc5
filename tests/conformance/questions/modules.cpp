// Modules, kernels, and what a fault of a kernel does to its context.
#include <string>

#include "questions.h"

namespace lastref::conformance {
namespace {

// PTX, so that one text serves every GPU. `fault` ends its context.
constexpr char const* text = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry nothing()
{
    ret;
}
.visible .entry with_parameters(.param .u64 data, .param .u32 count)
{
    ret;
}
.visible .entry fault()
{
    trap;
}
)";

CUresult launch(CUfunction function, CUstream stream, unsigned grid = 1, unsigned block = 32, unsigned shared = 0) {
    return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, nullptr, nullptr);
}

struct setting {
    CUcontext context = start();
    CUstream stream = make_stream();
    CUmodule module = nullptr;
    CUfunction nothing = nullptr, fault = nullptr;

    setting() {
        ask("cuModuleLoadData", cuModuleLoadData(&module, text));
        cuModuleGetFunction(&nothing, module, "nothing");
        cuModuleGetFunction(&fault, module, "fault");
    }
};

void module_functions() {
    setting s;
    CUfunction function = nullptr;
    CUmodule other = nullptr, of = nullptr;
    CUdeviceptr counter = 0;
    std::size_t bytes = 0;
    unsigned count = 0, value = 9;
    char const* name = nullptr;
    ASK(cuModuleGetFunction(&function, s.module, "missing"));
    ASK(cuModuleGetFunction(&function, s.module, nullptr));
    ASK(cuModuleGetGlobal(&counter, &bytes, s.module, "counter"));
    ask_number("bytes of the variable", static_cast<long long>(bytes));
    ASK(cuMemcpyDtoH(&value, counter, 4));
    ask_number("value of the variable", value);
    ASK(cuMemFree(counter));
    ASK(cuModuleGetGlobal(&counter, &bytes, s.module, "missing"));
    ASK(cuModuleGetFunctionCount(&count, s.module));
    ask_number("functions", count);
    ASK(cuFuncGetName(&name, s.nothing));
    ask_text("name", name ? name : "none");
    ASK(cuFuncGetModule(&of, s.nothing));
    ask("module of the function", of == s.module);
    ASK(cuModuleLoadData(&other, "no image at all"));
    ASK(cuModuleLoadData(&other, nullptr));
    ASK(cuModuleLoad(&other, "/nonexistent/file"));
    ASK(cuModuleLoadData(&other, text));
    ask("loaded twice", other != s.module);
    ASK(cuModuleUnload(other));
    ASK(cuModuleUnload(nullptr));
    elsewhere([&] {
        ask("no context: cuModuleLoadData", cuModuleLoadData(&other, text));
        ask("no context: cuModuleGetFunction", cuModuleGetFunction(&function, s.module, "nothing"));
    });
}

void launches() {
    setting s;
    ask("launch", launch(s.nothing, s.stream));
    ask("no blocks", launch(s.nothing, s.stream, 0));
    ask("no threads", launch(s.nothing, s.stream, 1, 0));
    ask("too many threads", launch(s.nothing, s.stream, 1, 2048));
    ask("too much shared memory", launch(s.nothing, s.stream, 1, 32, 1 << 20));
    ask("no function", launch(nullptr, s.stream));
    CUfunction with_parameters = nullptr;
    CUdeviceptr data = 0;
    unsigned count = 0;
    void* parameters[] = {&data, &count};
    ASK(cuModuleGetFunction(&with_parameters, s.module, "with_parameters"));
    ASK(cuLaunchKernel(with_parameters, 1, 1, 1, 1, 1, 1, 0, s.stream, parameters, nullptr));
    elsewhere([&] { ask("no context", launch(s.nothing, s.stream)); });
    ASK(cuStreamSynchronize(s.stream));
}

void function_attributes() {
    setting s;
    int value = 0;
    ASK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, s.nothing));
    ask_number("threads per block", value);
    ASK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, s.nothing));
    ask_number("shared bytes", value);
    ASK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, s.nothing));
    ask_number("version of PTX", value);
    ASK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, s.nothing));
    ask_number("version of the binary", value);
    ASK(cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(31), s.nothing));
    ASK(cuFuncSetAttribute(s.nothing, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
    ASK(cuFuncSetAttribute(s.nothing, CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
}

void libraries() {
    setting s;
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr, again = nullptr;
    CUfunction function = nullptr;
    CUmodule module = nullptr;
    CUdeviceptr counter = 0;
    std::size_t bytes = 0;
    unsigned count = 0;
    ASK(cuLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    ASK(cuLibraryGetKernel(&kernel, library, "nothing"));
    ASK(cuLibraryGetKernel(&again, library, "nothing"));
    ask("the same kernel", kernel == again);
    ASK(cuLibraryGetKernel(&again, library, "missing"));
    ASK(cuLibraryGetKernelCount(&count, library));
    ask_number("kernels", count);
    ASK(cuKernelGetFunction(&function, kernel));
    ASK(cuLibraryGetModule(&module, library));
    ASK(cuLibraryGetGlobal(&counter, &bytes, library, "counter"));
    ask("launch of a kernel", launch(reinterpret_cast<CUfunction>(kernel), s.stream));
    ask("launch of its function", launch(function, s.stream));
    ASK(cuStreamSynchronize(s.stream));
    ASK(cuLibraryUnload(library));
    ASK(cuLibraryUnload(nullptr));
}

void kernel_nodes() {
    setting s;
    CUgraph graph = nullptr, captured = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    CUDA_KERNEL_NODE_PARAMS params{}, read{};
    CUgraphNodeType type{};
    std::size_t count = 0;
    params.func = s.nothing;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    ASK(cuGraphCreate(&graph, 0));
    ASK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    ASK(cuGraphKernelNodeGetParams(node, &read));
    ask("function read", read.func == s.nothing);
    ASK(cuGraphInstantiate(&exec, graph, 0));
    params.gridDimX = 2;
    ASK(cuGraphExecKernelNodeSetParams(exec, node, &params));
    ASK(cuGraphKernelNodeSetParams(node, &params));
    params.func = s.fault;
    ask("another function of an executable graph", cuGraphExecKernelNodeSetParams(exec, node, &params));
    params.func = s.nothing;
    ask("the first again", cuGraphExecKernelNodeSetParams(exec, node, &params));
    params.gridDimX = 0;
    ask("no blocks", cuGraphKernelNodeSetParams(node, &params));
    ASK(cuGraphNodeSetEnabled(exec, node, 0));
    ASK(cuGraphLaunch(exec, s.stream));
    ASK(cuStreamSynchronize(s.stream));
    ASK(cuStreamBeginCapture(s.stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ask("captured launch", launch(s.nothing, s.stream));
    ASK(cuStreamEndCapture(s.stream, &captured));
    ASK(cuGraphGetNodes(captured, nullptr, &count));
    ask_number("captured nodes", static_cast<long long>(count));
    (void)type;
}

void module_unloaded_at_work() {
    setting s;
    gate shut(s.stream);
    ask("launch", launch(s.nothing, s.stream));
    ASK(cuModuleUnload(s.module));
    ask("unload returns while the launch waits", shut.closed());
    shut.open();
    ASK(cuStreamSynchronize(s.stream));
}

std::atomic<int> functions_run{0}, callbacks_run{0}, destroyed{0};
CUresult callback_status = CUDA_SUCCESS;

void CUDA_CB count_function(void*) {
    ++functions_run;
}
void CUDA_CB count_callback(CUstream, CUresult status, void*) {
    callback_status = status;
    ++callbacks_run;
}
void CUDA_CB count_destroyed(void*) {
    ++destroyed;
}

void fault_of_a_kernel() {
    setting s;
    CUdeviceptr memory = 0, ordered = 0, more = 0;
    CUevent event = nullptr, late = nullptr;
    CUuserObject object = nullptr;
    CUgraph graph = nullptr;
    CUstream new_stream = nullptr;
    CUcontext now = nullptr;
    std::size_t free = 0, total = 0;
    unsigned long long id = 0;
    cuMemAlloc(&memory, 64);
    cuMemAllocAsync(&ordered, 64, s.stream);
    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    cuUserObjectCreate(&object, nullptr, count_destroyed, 1, 1);
    cuGraphCreate(&graph, 0);
    ASK(cuStreamSynchronize(s.stream));
    ask("launch", launch(s.fault, s.stream));
    cuLaunchHostFunc(s.stream, count_function, nullptr);
    cuStreamAddCallback(s.stream, count_callback, nullptr, 0);
    ASK(cuStreamSynchronize(s.stream));
    ask_number("host functions behind the fault", eventually(functions_run, 0));
    ask_number("callbacks behind the fault", eventually(callbacks_run, 1));
    ask_number("status of the callback", callback_status);
    ASK(cuCtxSynchronize());
    ASK(cuStreamQuery(s.stream));
    ASK(cuMemAlloc(&more, 64));
    ASK(cuMemFree(memory));
    ASK(cuMemFreeAsync(ordered, s.stream));
    ASK(cuMemAllocAsync(&more, 64, s.stream));
    ASK(cuEventRecord(event, s.stream));
    ASK(cuEventQuery(event));
    ASK(cuEventCreate(&late, 0));
    ASK(cuEventDestroy(event));
    ASK(cuStreamCreate(&new_stream, 0));
    ASK(cuStreamGetId(s.stream, &id));
    ASK(cuLaunchHostFunc(s.stream, count_function, nullptr));
    ASK(cuMemGetInfo(&free, &total));
    ASK(cuCtxGetCurrent(&now));
    ASK(cuGraphDestroy(graph));
    ASK(cuGraphCreate(&graph, 0));
    ASK(cuUserObjectRelease(object, 1));
    ask_number("destructors after the fault", eventually(destroyed, 1));
    ASK(cuStreamDestroy(s.stream));
    ASK(cuModuleUnload(s.module));
    ASK(cuDevicePrimaryCtxReset(0));
    ASK(cuMemAlloc(&more, 64));
    ASK(cuDevicePrimaryCtxRelease(0));
    ASK(cuDevicePrimaryCtxRetain(&now, 0));
    ASK(cuCtxSetCurrent(now));
    ask("cuMemAlloc after the reset", cuMemAlloc(&more, 64));
}

}  // namespace

group const module_groups[] = {{"module_functions", module_functions},
                               {"launches", launches},
                               {"function_attributes", function_attributes},
                               {"libraries", libraries},
                               {"kernel_nodes", kernel_nodes},
                               {"module_unloaded_at_work", module_unloaded_at_work},
                               {"fault_of_a_kernel", fault_of_a_kernel, alone},
                               {nullptr, nullptr}};

}  // namespace lastref::conformance
