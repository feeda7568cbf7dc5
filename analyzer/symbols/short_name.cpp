#include "analyzer/symbols/short_name.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace lastref::symbols {
namespace {

constexpr std::string_view lambda = "{lambda}";

// One scope of a qualified name: "map<int, f>" is {"map", "<int, f>", ""}, "f<int>(int) const" {"f", "<int>",
// "(int) const"}.
struct part {
    std::string base;
    std::string arguments;
    std::string parameters;
};

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

// The end of the bracket that opens at `at`. Brackets of other kinds inside count; ">" of "->" and of operators does
// not close.
std::size_t bracket_end(std::string_view name, std::size_t at) {
    std::string open;
    for (auto i = at; i < name.size(); ++i) {
        char const c = name[i];
        if (c == '(' || c == '{' || c == '[' || c == '<') open += c;
        bool const closes = c == ')' || c == '}' || c == ']' || (c == '>' && name[i - 1] != '-');
        if (!closes) continue;
        if (!open.empty()) open.pop_back();
        if (open.empty()) return i + 1;
    }
    return name.size();
}

// "operator()" and its like, whose brackets are part of the name.
std::size_t operator_end(std::string_view name, std::size_t at) {
    auto const rest = name.substr(at);
    if (!rest.starts_with("operator") || (at > 0 && is_word(name[at - 1]))) return at;
    auto end = at + 8;
    if (end >= name.size() || is_word(name[end])) return at;
    if (name.substr(end).starts_with("()") || name.substr(end).starts_with("[]")) return end + 2;
    if (name[end] == ' ') {  // new, delete, a conversion
        auto const stop = name.find_first_of("(<", end);
        return stop == std::string_view::npos ? name.size() : stop;
    }
    while (end < name.size() && std::string_view("<>=!+-*/%^&|~,").find(name[end]) != std::string_view::npos) ++end;
    return end;
}

bool is_lambda(std::string_view base) {
    return base.starts_with("{lambda") || base.starts_with("<lambda") || base.starts_with("'lambda") ||
           base.starts_with("$_");
}

// Behind a space: what qualifies the function, or (where something else) the name itself behind its return type.
bool qualifies(std::string_view rest) {
    for (auto const* word : {"const", "volatile", "&", "noexcept", "[", "(.", "requires"})
        if (rest.starts_with(word)) return true;
    return false;
}

class parser {
  public:
    explicit parser(std::string_view name) : name_(name) {}

    std::vector<part> run() {
        while (at_ < name_.size()) step();
        finish();
        return std::move(parts_);
    }

  private:
    void step() {
        char const c = name_[at_];
        if (name_.substr(at_).starts_with("::")) {
            at_ += 2;
            return finish();
        }
        if (c == ' ' && !current_.base.empty()) return space();
        if (auto const end = operator_end(name_, at_); end != at_) return take(current_.base, end);
        if (c == '(' || c == '<' || c == '{') return bracket(c);
        if (c == '\'') {  // 'lambda0'
            auto const end = name_.find('\'', at_ + 1);
            return take(current_.base, end == std::string_view::npos ? name_.size() : end + 1);
        }
        take(current_.parameters.empty() ? current_.base : current_.parameters, at_ + 1);
    }

    void bracket(char c) {
        auto const end = bracket_end(name_, at_);
        if (current_.base.empty()) return take(current_.base, end);  // (anonymous namespace), {lambda()#1}, <lambda()>
        take(c == '<' && current_.parameters.empty() ? current_.arguments : current_.parameters, end);
    }

    void space() {
        auto const rest = name_.substr(at_ + 1);
        if (qualifies(rest)) return take(current_.parameters, std::min(name_.find("::", at_), name_.size()));
        ++at_;
        if (rest.starts_with('<') && current_.base.starts_with("operator")) return;
        parts_.clear();  // that was the return type
        current_ = {};
    }

    void take(std::string& into, std::size_t end) {
        into += name_.substr(at_, end - at_);
        at_ = end;
    }

    void finish() {
        if (is_lambda(current_.base)) current_ = {std::string(lambda), {}, {}};
        bool const call = current_.base == "operator()" && !parts_.empty() && parts_.back().base == lambda;
        if (!call && !current_.base.empty()) parts_.push_back(std::move(current_));
        current_ = {};
    }

    std::string_view name_;
    std::size_t at_ = 0;
    std::vector<part> parts_;
    part current_;
};

std::string joined(std::vector<part> const& parts, std::size_t first, bool arguments, bool parameters) {
    std::string out;
    for (auto i = first; i < parts.size(); ++i) {
        if (i > first) out += "::";
        out += parts[i].base;
        if (!parts[i].arguments.empty()) out += arguments ? parts[i].arguments : "<…>";
        if (parameters) out += parts[i].parameters;
    }
    return out;
}

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// The first scope that has to stay: the function's own, and for lambdas that of the function around them.
std::size_t innermost(std::vector<part> const& parts) {
    auto at = parts.size() - 1;
    while (at > 0 && parts[at].base == lambda) --at;
    return at;
}

}  // namespace

std::string tidy_name(std::string_view name) {
    if (name.find("ambda") == std::string_view::npos && name.find("$_") == std::string_view::npos)
        return std::string(name);
    auto const parts = parser(name).run();
    bool const has_lambda = std::any_of(parts.begin(), parts.end(), [](part const& p) { return p.base == lambda; });
    return has_lambda ? joined(parts, 0, true, true) : std::string(name);
}

std::string short_name(std::string_view name, std::size_t columns) {
    auto const tidy = tidy_name(name);
    if (columns_of(tidy) <= columns) return tidy;
    auto parts = parser(tidy).run();
    std::erase_if(parts, [](part const& p) { return p.base == "(anonymous namespace)" || p.base == "{anonymous}"; });
    if (parts.empty()) return tidy;
    auto out = joined(parts, 0, true, false);
    if (columns_of(out) <= columns) return out;
    out = joined(parts, 0, false, false);
    for (std::size_t first = 1; first <= innermost(parts) && columns_of(out) > columns; ++first)
        out = "…::" + joined(parts, first, false, false);
    return out;
}

}  // namespace lastref::symbols
