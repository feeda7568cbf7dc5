// The program that `lastref demo` records. It needs a driver, real or simulated, and no kernel.
#include "demo.h"
#include "tests/workloads/common/facts.h"

int main() {
    using namespace lastref::demo;
    CUcontext const context = lastref::workload::use_first_device();
    healthy_payload_of_destroyed_executable_graph();
    healthy_free_repeated_with_context(context);
    healthy_free_on_own_threads_default_stream(context);
    healthy_cleanup_drained();
    healthy_device_memory_freed();
    healthy_released_before_exit();
    fault_payload_held_by_executable_graph();
    fault_free_without_context(context);
    fault_free_on_other_threads_default_stream(context);
    fault_cleanup_never_drained();
    fault_device_memory_leaked();
    fault_released_after_main();
    return lastref::workload::finish();
}
