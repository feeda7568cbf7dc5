// Weak references to driver functions: see weak.cpp.
#pragma once

namespace lastref::preload::driver {

// Sets weak references that only our own exports resolve back to null. Once, before the program's own code runs.
void restore_weak_references();

}  // namespace lastref::preload::driver
