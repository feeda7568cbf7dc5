// Why a trace cannot be read.
#pragma once

#include <stdexcept>
#include <string>

namespace lastref::store {

enum class failure {
    missing,     // no such file, or a folder
    unreadable,  // damaged, foreign, too new, or not permitted
    statement,   // an SQL statement of the user's that SQLite refuses
};

// `what()` is one line for people that names the file.
class error : public std::runtime_error {
  public:
    error(failure why, std::string const& text) : std::runtime_error(text), why_(why) {}
    failure why() const { return why_; }

  private:
    failure why_;
};

}  // namespace lastref::store
