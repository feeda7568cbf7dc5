// Compares text with a file of tests/golden. What was got is kept in the build folder, and the difference is shown;
// LASTREF_UPDATE_GOLDEN=1 writes it over the expected file, for a person to look at in the version control's own diff.
#pragma once

#include <string>

namespace lastref::test {

void expect_golden(std::string const& got, std::string const& name);

}  // namespace lastref::test
