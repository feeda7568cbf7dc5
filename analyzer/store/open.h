// Opening a trace's file: private to this folder.
#pragma once

#include "analyzer/store/statement.h"

#include <filesystem>

namespace lastref::store {

// Opens `path` for reading, checks that it is a trace of a version that we read, and takes a snapshot.
database open_for_reading(std::filesystem::path const& path);

// Reads all of the file for damage (PRAGMA quick_check); throws `error` where there is some.
void check_file_of(database const& db, std::string const& file);

}  // namespace lastref::store
