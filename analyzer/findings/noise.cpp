#include "analyzer/findings/noise.h"

#include "noise_text.h"

#include <algorithm>

namespace lastref::findings {
namespace {

// '*' stands for any characters; the rest is as it is. The whole of `text` has to fit.
bool fits_whole(std::string_view pattern, std::string_view text) {
    std::size_t at = 0, in = 0, star = std::string_view::npos, again = 0;
    while (in < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            again = in;
        } else if (at < pattern.size() && pattern[at] == text[in]) {
            ++at;
            ++in;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            in = ++again;
        } else {
            return false;
        }
    }
    while (at < pattern.size() && pattern[at] == '*') ++at;
    return at == pattern.size();
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

}  // namespace

noise_list::noise_list(std::string_view text) {
    while (!text.empty()) {
        auto const end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        line = trimmed(line.substr(0, line.find('#')));
        auto const gap = line.find(' ');
        if (gap == std::string_view::npos) continue;
        auto const kind = line.substr(0, gap);
        std::string pattern(trimmed(line.substr(gap)));
        bool const whole = pattern.find('/') != std::string::npos;
        if (kind == "function")
            functions_.push_back(std::move(pattern));
        else if (kind == "binding")
            bindings_.push_back({std::move(pattern), whole});
        else if (kind == "file")
            files_.push_back({std::move(pattern), whole});
    }
}

noise_list const& noise_list::built_in() {
    static noise_list const list(noise_text);
    return list;
}

bool noise_list::fits(file_pattern const& wanted, std::string_view file) {
    return fits_whole(wanted.text, wanted.whole_path ? file : file.substr(file.rfind('/') + 1));
}

bool noise_list::is_binding(std::string_view file) const {
    return !file.empty() &&
           std::any_of(bindings_.begin(), bindings_.end(), [file](auto const& p) { return fits(p, file); });
}

bool noise_list::holds(std::string_view function, std::string_view file) const {
    if (is_binding(file)) return true;
    auto const in_file = [file](auto const& p) { return fits(p, file); };
    auto const is_function = [function](auto const& p) { return fits_whole(p, function); };
    return (!file.empty() && std::any_of(files_.begin(), files_.end(), in_file)) ||
           std::any_of(functions_.begin(), functions_.end(), is_function);
}

}  // namespace lastref::findings
