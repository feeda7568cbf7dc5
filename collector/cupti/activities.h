// What the device did, as CUPTI's activities, into this process's file.
#pragma once

#include "collector/cupti/functions.h"
#include "schema/cupti_file.h"

namespace lastref::cupti::activities {

// Begins; false where CUPTI refuses. `into` is where losses are counted.
bool begin(functions const& with, cupti_file::header& into);

// Everything that CUPTI still holds goes to the file.
void flush();

}  // namespace lastref::cupti::activities
