#include "analyzer/report/render.h"

namespace lastref::report {

std::optional<format> format_named(std::string_view name) {
    if (name == "text") return format::text;
    if (name == "json") return format::json;
    return std::nullopt;
}

std::string render(format as, input const& in, style const& how) {
    return as == format::json ? render_json(in) : render_text(in, how);
}

}  // namespace lastref::report
