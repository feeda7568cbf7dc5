// Opening a trace's file: private to this folder.
#pragma once

#include "analyzer/store/statement.h"

#include <filesystem>

namespace lastref::store {

// Opens `path` for reading, checks that it is a trace of a version that we read, and takes a snapshot.
database open_for_reading(std::filesystem::path const& path);

}  // namespace lastref::store
