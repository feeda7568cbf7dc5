// The words in which a trace says what a column holds, and what they are here: private to this folder.
#pragma once

#include "analyzer/store/rows.h"

#include <array>
#include <string_view>
#include <utility>

namespace lastref::store {

template <class Enum, std::size_t n>
Enum named(std::array<std::pair<std::string_view, Enum>, n> const& names, std::string_view text, Enum fallback) {
    for (auto const& [name, value] : names)
        if (name == text) return value;
    return fallback;
}

template <class Enum>
using names_of = std::pair<std::string_view, Enum>;

inline constexpr std::array end_names{
    names_of<process_end>{"running", process_end::running}, names_of<process_end>{"clean", process_end::clean},
    names_of<process_end>{"abrupt", process_end::abrupt}, names_of<process_end>{"exec", process_end::exec}};
inline constexpr std::array context_names{names_of<context_kind>{"created", context_kind::created},
                                          names_of<context_kind>{"primary", context_kind::primary},
                                          names_of<context_kind>{"green", context_kind::green}};
inline constexpr std::array verb_names{names_of<verb>{"create", verb::create}, names_of<verb>{"destroy", verb::destroy},
                                       names_of<verb>{"retain", verb::retain}, names_of<verb>{"release", verb::release},
                                       names_of<verb>{"use", verb::use},       names_of<verb>{"set", verb::set},
                                       names_of<verb>{"wait", verb::wait},     names_of<verb>{"query", verb::query},
                                       names_of<verb>{"begin", verb::begin},   names_of<verb>{"end", verb::end},
                                       names_of<verb>{"run", verb::run}};
inline constexpr std::array stream_names{names_of<default_stream>{"legacy", default_stream::legacy},
                                         names_of<default_stream>{"per_thread", default_stream::per_thread}};
inline constexpr std::array phase_names{names_of<phase_step>{"driver_found", phase_step::driver_found},
                                        names_of<phase_step>{"driver_initialized", phase_step::driver_initialized},
                                        names_of<phase_step>{"exit_begin", phase_step::exit_begin},
                                        names_of<phase_step>{"driver_torn_down", phase_step::driver_torn_down},
                                        names_of<phase_step>{"end", phase_step::end},
                                        names_of<phase_step>{"exec", phase_step::exec},
                                        names_of<phase_step>{"python_initialized", phase_step::python_initialized},
                                        names_of<phase_step>{"python_finalizing", phase_step::python_finalizing},
                                        names_of<phase_step>{"python_finalized", phase_step::python_finalized}};
inline constexpr std::array resource_names{names_of<named_resource>{"thread", named_resource::thread},
                                           names_of<named_resource>{"context", named_resource::context},
                                           names_of<named_resource>{"stream", named_resource::stream},
                                           names_of<named_resource>{"event", named_resource::event}};
inline constexpr std::array state_names{names_of<trace_state>{"recording", trace_state::recording},
                                        names_of<trace_state>{"complete", trace_state::complete}};

}  // namespace lastref::store
