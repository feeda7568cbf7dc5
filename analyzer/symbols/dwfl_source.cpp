#include "analyzer/symbols/dwfl_source.h"

#include "analyzer/symbols/short_name.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

namespace lastref::symbols {
namespace {

// dwfl_standard_find_debuginfo would ask debuginfod servers; a report must not depend on the network, nor wait for it.
int find_debug_file(Dwfl_Module* module, void** userdata, char const* name, Dwarf_Addr base, char const* file,
                    char const* debuglink, GElf_Word crc, char** found) {
    int const by_id = dwfl_build_id_find_debuginfo(module, userdata, name, base, file, debuglink, crc, found);
    if (by_id >= 0 || debuglink == nullptr || file == nullptr) return by_id;
    namespace fs = std::filesystem;
    fs::path const beside = fs::path(file).parent_path();
    for (auto const& candidate : {beside / debuglink, beside / ".debug" / debuglink,
                                  fs::path("/usr/lib/debug" + beside.string()) / debuglink}) {
        std::error_code failed;
        if (candidate == fs::path(file) || !fs::exists(candidate, failed)) continue;
        *found = strdup(candidate.c_str());
        return -2;  // libdwfl opens it, and checks that it belongs to the module
    }
    return -1;
}

Dwfl_Callbacks const callbacks{.find_elf = dwfl_build_id_find_elf,
                               .find_debuginfo = find_debug_file,
                               .section_address = dwfl_offline_section_address,
                               .debuginfo_path = nullptr};

struct end_session {
    void operator()(Dwfl* session) const { dwfl_end(session); }
};

struct file {
    std::unique_ptr<Dwfl, end_session> session;
    Dwfl_Module* module = nullptr;
    source_state state = source_state::missing;
};

std::string build_id_of(Dwfl_Module* module) {
    unsigned char const* bits = nullptr;
    GElf_Addr address = 0;
    int const length = dwfl_module_build_id(module, &bits, &address);
    std::string out;
    for (int i = 0; i < length; ++i) out += fmt::format("{:02x}", bits[i]);
    return out;
}

file open_file(std::string const& path, std::string const& build_id) {
    file out;
    std::error_code failed;
    // Only regular files: a module's path may be anything that the trace says, a device or a pipe included.
    if (!std::filesystem::is_regular_file(path, failed)) return out;
    out.session.reset(dwfl_begin(&callbacks));
    out.state = source_state::unreadable;
    if (!out.session) return out;
    dwfl_report_begin(out.session.get());
    out.module = dwfl_report_elf(out.session.get(), path.c_str(), path.c_str(), -1, 0, true);
    dwfl_report_end(out.session.get(), nullptr, nullptr);
    GElf_Addr bias = 0;
    if (out.module == nullptr || dwfl_module_getelf(out.module, &bias) == nullptr) return out;
    bool const same = build_id.empty() || build_id_of(out.module) == build_id;
    out.state = same ? source_state::found : source_state::other_build;
    return out;
}

std::string demangled(char const* name) {
    if (name == nullptr) return {};
    int status = 0;
    std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
    return status == 0 && plain ? plain.get() : name;
}

// The declaration of what `die` is an instance of: it is that one that stands in its namespace and class.
Dwarf_Die declaration_of(Dwarf_Die die) {
    for (int hops = 0; hops < 8; ++hops) {
        Dwarf_Attribute attribute;
        Dwarf_Die next;
        auto* found = dwarf_attr(&die, DW_AT_abstract_origin, &attribute);
        if (found == nullptr) found = dwarf_attr(&die, DW_AT_specification, &attribute);
        if (found == nullptr || dwarf_formref_die(found, &next) == nullptr) break;
        die = next;
    }
    return die;
}

std::string name_of(Dwarf_Die* die);

// What `scope` adds to the names inside of it. A function starts anew: its own name says where it stands, while its
// definition may stand outside of its namespace.
void enter_scope(std::string& name, Dwarf_Die* scope) {
    auto const* own = dwarf_diename(scope);
    switch (dwarf_tag(scope)) {
        case DW_TAG_namespace:
            name += own ? fmt::format("{}::", own) : "(anonymous namespace)::";
            break;
        case DW_TAG_class_type:
        case DW_TAG_structure_type:
            name += fmt::format("{}::", own ? own : "<lambda>");
            break;
        case DW_TAG_subprogram:
            name = name_of(scope) + "::";
            break;
        default:
            break;
    }
}

// Functions of unnamed namespaces, lambdas and many inlined ones have no linkage name: theirs is put together.
std::string qualified_name(Dwarf_Die* die) {
    auto declaration = declaration_of(*die);
    auto const* plain = dwarf_diename(&declaration);
    if (plain == nullptr) return {};
    Dwarf_Die* scopes = nullptr;
    int const count = dwarf_getscopes_die(&declaration, &scopes);
    std::unique_ptr<Dwarf_Die, decltype(&std::free)> keep(scopes, &std::free);
    std::string out;
    for (int i = count - 1; i > 0; --i) enter_scope(out, &scopes[i]);
    return out + plain;
}

std::string name_of(Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    for (unsigned const name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
        if (auto const* text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute)))
            return tidy_name(demangled(text));
    return tidy_name(qualified_name(die));
}

void add_line(symbol& to, Dwfl_Module* module, Dwarf_Addr address) {
    auto* const line = dwfl_module_getsrc(module, address);
    if (line == nullptr) return;
    if (auto const* name = dwfl_lineinfo(line, nullptr, &to.line, nullptr, nullptr, nullptr)) to.file = name;
}

// Where the inlined function `die` was called from, in its compilation unit.
void add_call(symbol& to, Dwarf_Die* unit, Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number) == 0) to.line = static_cast<int>(number);
    Dwarf_Files* names = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrcfiles(unit, &names, &count) != 0) return;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) != 0 || number >= count) return;
    if (auto const* name = dwarf_filesrc(names, number, nullptr, nullptr)) to.file = name;
}

// Functions from DWARF, innermost first; empty without it.
std::vector<symbol> functions_at(Dwfl_Module* module, Dwarf_Addr address) {
    std::vector<symbol> out;
    Dwarf_Addr bias = 0;
    auto* const unit = dwfl_module_addrdie(module, address, &bias);
    if (unit == nullptr) return out;
    Dwarf_Die* scopes = nullptr;
    int const inner = dwarf_getscopes(unit, address - bias, &scopes);
    if (inner <= 0) return out;
    std::unique_ptr<Dwarf_Die, decltype(&std::free)> keep(scopes, &std::free);
    // A scope inside an inlined function names only where that was called; its DIE's own parents say the rest.
    Dwarf_Die* chain = nullptr;
    int const scopes_count = dwarf_getscopes_die(&scopes[0], &chain);
    if (scopes_count <= 0) return out;
    std::unique_ptr<Dwarf_Die, decltype(&std::free)> keep_chain(chain, &std::free);
    symbol current;
    add_line(current, module, address);
    for (int i = 0; i < scopes_count; ++i) {
        int const tag = dwarf_tag(&chain[i]);
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
        current.function = name_of(&chain[i]);
        current.inlined = tag == DW_TAG_inlined_subroutine;
        out.push_back(current);
        if (!current.inlined) break;
        current = {};
        add_call(current, unit, &chain[i]);
    }
    return out;
}

}  // namespace

struct dwfl_source::files {
    std::map<std::pair<std::string, std::string>, file> open;

    file& of(std::string const& path, std::string const& build_id) {
        auto const [slot, fresh] = open.try_emplace({path, build_id});
        if (fresh) slot->second = open_file(path, build_id);
        return slot->second;
    }
};

dwfl_source::dwfl_source() : files_(std::make_unique<files>()) {}
dwfl_source::~dwfl_source() = default;

source_state dwfl_source::state(std::string const& path, std::string const& build_id) {
    return files_->of(path, build_id).state;
}

std::vector<symbol> dwfl_source::at(std::string const& path, std::string const& build_id, std::uint64_t address) {
    auto const& from = files_->of(path, build_id);
    if (from.state != source_state::found) return {};
    auto out = functions_at(from.module, address);
    if (!out.empty() && !out.back().function.empty()) return out;
    symbol plain;
    plain.function = tidy_name(demangled(dwfl_module_addrname(from.module, address)));
    add_line(plain, from.module, address);
    if (plain.function.empty() && plain.line == 0) return {};
    return {plain};
}

}  // namespace lastref::symbols
