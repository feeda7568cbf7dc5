// A bare LD_PRELOAD: the library starts the drain itself.
#pragma once

#include "collector/preload/record/settings.h"

namespace lastref::preload {

// Where this process spools to. With `lastref record` that is $LASTREF_SPOOL_DIR; else a new folder, with a detached
// `lastref drain` started on it where the program is found. Empty on failure.
bool choose_spool_folder(line& folder);

}  // namespace lastref::preload
