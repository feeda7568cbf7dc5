#include "analyzer/gate/baseline.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

namespace lastref::gate {
namespace {

using nlohmann::json;

// Tells how far the parser has read: the library's values do not know where they stood.
class counting_iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = char const*;
    using reference = char const&;

    counting_iterator(char const* at, char const** read) : at_(at), read_(read) {}
    reference operator*() const { return *at_; }
    counting_iterator& operator++() {
        *read_ = ++at_;
        return *this;
    }
    counting_iterator operator++(int) {
        auto const before = *this;
        ++*this;
        return before;
    }
    bool operator==(counting_iterator const& other) const { return at_ == other.at_; }
    bool operator!=(counting_iterator const& other) const { return at_ != other.at_; }

  private:
    char const* at_;
    char const** read_;
};

struct document {
    json value;
    // Offsets of the elements of the first level's arrays, by the array's key.
    std::map<std::string, std::vector<std::size_t>> elements;
};

// Everything else of a report is left out as it is read: it is a hundred times more.
constexpr std::array<std::string_view, 8> wanted{"fingerprint", "rule",  "severity", "title",
                                                 "count",       "bytes", "place",    "complete"};

[[noreturn]] void refuse_syntax(std::string_view text, std::string const& path, json::parse_error const& error) {
    std::string_view what = error.what();
    if (auto const colon = what.rfind("; "); colon != std::string_view::npos) what.remove_prefix(colon + 2);
    auto const offset = error.byte > 0 ? error.byte - 1 : 0;
    throw input_error(path, position_of(text, offset), fmt::format("not JSON: {}", what));
}

document parse(std::string_view text, std::string const& path) {
    document out;
    char const* read = text.data();
    std::string key;
    auto const look = [&](int depth, json::parse_event_t event, json& value) {
        if (event == json::parse_event_t::key) {
            auto const& name = value.get_ref<std::string const&>();
            if (depth == 1) key = name;
            bool const in_finding = depth == 3;
            return !in_finding || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
        }
        if (depth == 2 && event == json::parse_event_t::object_start)
            out.elements[key].push_back(static_cast<std::size_t>(read - text.data()) - 1);
        return true;
    };
    try {
        out.value = json::parse(counting_iterator(text.data(), &read),
                                counting_iterator(text.data() + text.size(), &read), look);
    } catch (json::parse_error const& error) {
        refuse_syntax(text, path, error);
    }
    return out;
}

template <class T>
bool take(json const& from, char const* key, T& into) {
    auto const found = from.find(key);
    if (found == from.end()) return false;
    bool const fits = std::is_same_v<T, std::string> ? found->is_string() : found->is_number_unsigned();
    if (fits) found->get_to(into);
    return fits;
}

// Reads one finding; returns the key that is missing or of the wrong kind, or null.
char const* read_finding(json const& from, earlier_finding& into) {
    if (!take(from, "fingerprint", into.fingerprint) || into.fingerprint.empty()) return "fingerprint";
    if (!take(from, "rule", into.rule)) return "rule";
    if (!take(from, "severity", into.severity)) return "severity";
    if (!take(from, "title", into.title)) return "title";
    if (!take(from, "count", into.count)) return "count";
    if (!take(from, "bytes", into.bytes)) return "bytes";
    take(from, "place", into.place);
    return nullptr;
}

}  // namespace

baseline parse_baseline(std::string_view text, std::string const& path) {
    auto const document = parse(text, path);
    auto const at = [&](std::size_t offset) { return position_of(text, offset); };
    auto const& all = document.value;
    if (!all.is_object() || !all.contains("findings") || !all["findings"].is_array())
        throw input_error(path, at(0), "no report of lastref in JSON: it has no array \"findings\"");
    baseline out{path, true, {}};
    if (all.contains("trace") && all["trace"].is_object()) out.complete = all["trace"].value("complete", true);
    for (auto const* key : {"findings", "suppressed"}) {
        if (!all.contains(key) || !all[key].is_array()) continue;
        auto const places = document.elements.find(key);
        for (std::size_t i = 0; i < all[key].size(); ++i) {
            auto const& each = all[key][i];
            bool const object = each.is_object();
            char const* const missing = object ? read_finding(each, out.findings.emplace_back()) : "fingerprint";
            if (missing == nullptr) continue;
            bool const placed = places != document.elements.end() && i < places->second.size();
            throw input_error(path, at(placed ? places->second[i] : 0),
                              fmt::format("{}[{}] has no sound \"{}\"", key, i, missing));
        }
    }
    return out;
}

baseline read_baseline(std::string const& path) {
    return parse_baseline(read_file(path), path);
}

bool is_trace(std::string const& path) {
    constexpr std::string_view magic = "SQLite format 3";
    std::ifstream file(path, std::ios::binary);
    std::string head(magic.size(), '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    return head == magic;
}

}  // namespace lastref::gate
