// This process's file: see schema/cupti_file.h.
#pragma once

#include "schema/cupti_file.h"

namespace lastref::cupti::file {

// Makes it in `folder`; null where it cannot be made. Once a process.
cupti_file::header* create(char const* folder);

// Appends whole records; those that the file has no room for are counted as dropped. Threads: any, one at a time.
void append(cupti_file::activity const* records, unsigned count);

}  // namespace lastref::cupti::file
