// A tool that listens: what NVTX loads through NVTX_INJECTION64_PATH. Writes every mark of the domain `lastref` into
// the file that LASTREF_TEST_ANNOTATIONS names, read from the documented layout alone (docs/annotations.md), not from
// the writer's header.
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct data {
    std::uint64_t schema;
    std::size_t size;
    void const* payload;
};

nvtxDomainHandle_t const domain = reinterpret_cast<nvtxDomainHandle_t>(0x10);
std::FILE* out = nullptr;

nvtxDomainHandle_t NVTX_API create_domain(char const* name) {
    return std::strcmp(name, "lastref") == 0 ? domain : nullptr;
}

// The handle of a registered string is the string.
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, char const* text) {
    return reinterpret_cast<nvtxStringHandle_t>(strdup(text));
}

void NVTX_API mark(nvtxDomainHandle_t in, nvtxEventAttributes_t const* attributes) {
    if (in != domain || attributes->messageType != NVTX_MESSAGE_TYPE_REGISTERED) return;
    data const* const given = reinterpret_cast<data const*>(attributes->payload.ullValue);
    std::uint64_t words[6];
    if (given->size != sizeof words) return;
    std::memcpy(words, given->payload, sizeof words);
    std::fprintf(out, "%s version=%u kind=%u queue=%d object=%llx %llx %llx %llx\n",
                 reinterpret_cast<char const*>(attributes->message.registered), static_cast<unsigned>(words[0]),
                 static_cast<unsigned>(words[0] >> 32), words[1] != 0, static_cast<unsigned long long>(words[2]),
                 static_cast<unsigned long long>(words[3]), static_cast<unsigned long long>(words[4]),
                 static_cast<unsigned long long>(words[5]));
    std::fflush(out);
}

template <typename Function>
void set(NvtxFunctionTable table, unsigned id, Function function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
    auto const* const callbacks = static_cast<NvtxExportTableCallbacks const*>(get_table(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    char const* const path = std::getenv("LASTREF_TEST_ANNOTATIONS");
    if (!path || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
    out = std::fopen(path, "w");
    set(table, NVTX_CBID_CORE2_DomainCreateA, &create_domain);
    set(table, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string);
    set(table, NVTX_CBID_CORE2_DomainMarkEx, &mark);
    return out != nullptr;
}
