#include "gui/loader/suppressed_places.h"

#include <algorithm>

namespace lastref::gui {
namespace {

findings::rule leak_rule_of(model::object_kind kind) {
    if (kind == model::object_kind::user_object) return findings::rule::user_object_leak;
    return model::is_memory(kind) ? findings::rule::allocation_leak : findings::rule::handle_leak;
}

}  // namespace

bool suppressed_places::look_up(model::object const& object, findings::rule rule) {
    findings::finding as;
    as.rule = rule;
    findings::site made;
    made.call = object.created;
    as.sites.push_back(std::move(made));
    auto const names = gate::names_in(as, trace_, stacks_, ranges_);
    return std::any_of(suppressions_.begin(), suppressions_.end(),
                       [&](auto const& each) { return gate::suppresses(each, as, names); });
}

bool suppressed_places::covers(model::object const& object) {
    if (suppressions_.empty() || !object.created.stack) return false;
    auto const rule = leak_rule_of(object.kind);
    auto const [known, fresh] = known_.try_emplace({object.created.stack, rule}, false);
    if (fresh) known->second = look_up(object, rule);
    return known->second;
}

}  // namespace lastref::gui
