// The layers of dlsym_next, in the order in which the dynamic linker searches them: program (1), outer (2), inner (3).
#pragma once

extern "C" {
__attribute__((visibility("default"))) int workload_layer();
__attribute__((visibility("default"))) int next_of_outer();
__attribute__((visibility("default"))) int default_of_outer();
__attribute__((visibility("default"))) int next_of_inner();
__attribute__((visibility("default"))) int default_of_inner();
}
