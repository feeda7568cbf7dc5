// Another tool of NVTX, which was there first: writes what it hears into the file that WORKLOAD_OTHER_TOOL names, and
// gives handles and numbers of its own.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::FILE* out = nullptr;

template <class... Arguments>
void hear(char const* format, Arguments... arguments) {
    std::fprintf(out, format, arguments...);
    std::fflush(out);
}

nvtxDomainHandle_t NVTX_API create_domain(char const* name) {
    hear("domain %s\n", name);
    return reinterpret_cast<nvtxDomainHandle_t>(strdup(name));
}
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, char const* text) {
    return reinterpret_cast<nvtxStringHandle_t>(strdup(text));
}
int NVTX_API push(char const* message) {
    hear("push %s\n", message);
    return 40;
}
int NVTX_API pop() {
    hear("pop%s\n", "");
    return 41;
}
nvtxRangeId_t NVTX_API start(char const* message) {
    hear("start %s\n", message);
    return 4711;
}
void NVTX_API end(nvtxRangeId_t number) {
    hear("end %d\n", static_cast<int>(number));
}
int NVTX_API domain_push(nvtxDomainHandle_t domain, nvtxEventAttributes_t const* attributes) {
    bool const registered = attributes->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
    hear("push %s in %s\n",
         registered ? reinterpret_cast<char const*>(attributes->message.registered) : attributes->message.ascii,
         reinterpret_cast<char const*>(domain));
    return 42;
}

template <class Function>
void set(NvtxFunctionTable table, unsigned id, Function function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
    auto const* const callbacks = static_cast<NvtxExportTableCallbacks const*>(get_table(NVTX_ETID_CALLBACKS));
    char const* const path = std::getenv("WORKLOAD_OTHER_TOOL");
    if (!path) return 0;
    out = std::fopen(path, "a");
    NvtxFunctionTable core = nullptr, core2 = nullptr;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &core, &size) ||
        !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &core2, &size))
        return 0;
    set(core, NVTX_CBID_CORE_RangePushA, &push);
    set(core, NVTX_CBID_CORE_RangePop, &pop);
    set(core, NVTX_CBID_CORE_RangeStartA, &start);
    set(core, NVTX_CBID_CORE_RangeEnd, &end);
    set(core2, NVTX_CBID_CORE2_DomainCreateA, &create_domain);
    set(core2, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string);
    set(core2, NVTX_CBID_CORE2_DomainRangePushEx, &domain_push);
    return out != nullptr;
}
