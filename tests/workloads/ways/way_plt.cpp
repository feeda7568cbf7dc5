// The way of programs linked with -lcuda: the dynamic linker binds cuXxx at load time. Built a second time with the
// per-thread symbols, as programs are that define CUDA_API_PER_THREAD_DEFAULT_STREAM.
#include "sequence.h"

#ifdef WORKLOAD_PER_THREAD
#define WAY(name, symbol, version, suffix) .name = &::symbol##suffix,
#else
#define WAY(name, symbol, version, suffix) .name = &::symbol,
#endif

int main() {
    return lastref::workload::run_sequence({
#include "entry_points.def"
    });
}
