// A plugin that is itself linked with -lcuda.
#include <cuda.h>

extern "C" __attribute__((visibility("default"))) int plugin_calls(int times) {
    int made = 0;
    for (int i = 0; i < times; ++i) made += cuEventQuery(nullptr) == CUDA_SUCCESS;
    return made;
}
