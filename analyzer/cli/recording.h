// Recording as `record` and `demo` both do it.
#pragma once

#include "collector/drain/recorder.h"

namespace lastref::cli {

// Records and says how it went, in one line; with `quiet`, only if something went wrong.
drain::record_result record_and_tell(drain::record_options const& options, bool quiet);

}  // namespace lastref::cli
