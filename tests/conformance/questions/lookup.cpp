#include <dlfcn.h>

#include <string>

#include "names.h"
#include "questions.h"

namespace lastref::conformance {
namespace {

void* library() {
    return dlopen("libcuda.so.1", RTLD_NOW);
}

char const* const suffixes[] = {"",      "_v2",      "_v3",      "_v4",      "_ptsz",
                                "_ptds", "_v2_ptsz", "_v2_ptds", "_v3_ptsz", "_v4_ptsz"};

std::string exported_variants(std::string const& name) {
    std::string found;
    for (char const* const suffix : suffixes)
        if (dlsym(library(), (name + suffix).c_str()))
            found += std::string(found.empty() ? "" : " ") + "plain" + suffix;
    return found.empty() ? "none" : found;
}

// Which symbol the driver hands out for a name, said by its suffix.
std::string which(std::string const& name, int version, cuuint64_t flags) {
    void* address = nullptr;
    cuGetProcAddress(name.c_str(), &address, version, flags, nullptr);
    if (!address) return "none";
    for (char const* const suffix : suffixes)
        if (dlsym(library(), (name + suffix).c_str()) == address) return std::string("plain") + suffix;
    return "no symbol's";
}

constexpr int versions[] = {2000,  2010,  2020,  3000,  3010,  3020,  4000,  4010,  4020,  5000,  5050,
                            6000,  6050,  7000,  7050,  8000,  9000,  9010,  9020,  10000, 10010, 10020,
                            11000, 11010, 11020, 11030, 11040, 11050, 11060, 11070, 11080, 12000, 12010,
                            12020, 12030, 12040, 12050, 12060, 12080, 12090, 13000};

// From which version on which variant is handed out.
std::string history(std::string const& name, cuuint64_t flags) {
    std::string told, before;
    for (int const version : versions) {
        std::string const now = which(name, version, flags);
        if (now != before) told += (told.empty() ? "" : ", ") + std::to_string(version) + " " + now;
        before = now;
    }
    return told;
}

template <class Visit>
void each_name(Visit visit) {
    for (std::string const& name : entry_point_names()) visit(name);
}

void exported() {
    each_name([](std::string const& name) { ask_text(name.c_str(), exported_variants(name)); });
}

void variants() {
    each_name([](std::string const& name) { ask_text(name.c_str(), history(name, 0)); });
}

void variants_legacy() {
    each_name([](std::string const& name) {
        ask((name + " as without flags").c_str(), history(name, CU_GET_PROC_ADDRESS_LEGACY_STREAM) == history(name, 0));
    });
}

void variants_per_thread() {
    each_name([](std::string const& name) {
        ask_text(name.c_str(), history(name, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM));
    });
}

// Private tables are not for us; what matters is that asking does no harm.
void export_tables() {
    void const* table = nullptr;
    CUuuid unknown{};
    ASK(cuGetExportTable(&table, &unknown));
    ASK(cuInit(0));
    ASK(cuGetExportTable(&table, &unknown));
    ask("no table", table == nullptr);
    ASK(cuGetExportTable(nullptr, &unknown));
    ASK(cuGetExportTable(&table, nullptr));
}

void failures() {
    void* address = &address;
    CUdriverProcAddressQueryResult status{};
    auto const first =
        reinterpret_cast<CUresult (*)(char const*, void**, int, cuuint64_t)>(dlsym(library(), "cuGetProcAddress"));
    ASK(cuGetProcAddress("cuNoSuchThing", &address, 12000, 0, &status));
    ask_number("status", status);
    ask("address is null", address == nullptr);
    ASK(cuGetProcAddress("cuNoSuchThing", &address, 12000, 0, nullptr));
    ASK(cuGetProcAddress("cuMemAlloc_v2", &address, 12000, 0, &status));
    ask_number("status", status);
    ASK(cuGetProcAddress("cuMemAllocAsync", &address, 11000, 0, &status));
    ask_number("status", status);
    ASK(cuGetProcAddress("cuMemAlloc", &address, 99000, 0, &status));
    ask_number("status", status);
    ASK(cuGetProcAddress("cuMemAlloc", &address, 13010, 0, &status));
    ASK(cuGetProcAddress("cuMemAlloc", &address, 13990, 0, &status));
    ASK(cuGetProcAddress("cuMemAlloc", &address, 14000, 0, &status));
    ASK(cuGetProcAddress("cuMemAlloc", &address, 20000, 0, &status));
    ASK(cuGetProcAddress("cuMemAlloc", &address, 0, 0, &status));
    ASK(cuGetProcAddress("cuMemAlloc", &address, 12000, 4, &status));
    ASK(cuGetProcAddress("cuMemAlloc", &address, 12000, 3, &status));
    ASK(cuGetProcAddress("", &address, 12000, 0, &status));
    ask("first version: unknown name", first("cuNoSuchThing", &address, 12000, 0));
    ask("first version: known name", first("cuMemAlloc", &address, 12000, 0));
}

}  // namespace

group const lookup_groups[] = {{"exported", exported},
                               {"variants", variants},
                               {"variants_legacy", variants_legacy},
                               {"variants_per_thread", variants_per_thread},
                               {"failures", failures},
                               {"export_tables", export_tables},
                               {nullptr, nullptr}};

}  // namespace lastref::conformance
