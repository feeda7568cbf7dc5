// Frames that say how a framework works, and nothing of what a program does: analyzer/findings/noise.txt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lastref::findings {

class noise_list {
  public:
    // Lines that are none are left out.
    explicit noise_list(std::string_view text);
    // The list that is part of the program.
    static noise_list const& built_in();

    // A file that passes calls on between languages: who called it is the caller.
    bool is_binding(std::string_view file) const;
    // `file` is the library or the Python source that the function is in.
    bool holds(std::string_view function, std::string_view file) const;

  private:
    struct file_pattern {
        std::string text;
        bool whole_path;
    };
    static bool fits(file_pattern const& wanted, std::string_view file);
    std::vector<file_pattern> bindings_, files_;
    std::vector<std::string> functions_;
};

}  // namespace lastref::findings
