#include "collector/cupti/functions.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "collector/cupti/places.h"

namespace lastref::cupti {
namespace {

#define LASTREF_TEXT(x) #x
#define LASTREF_QUOTED(x) LASTREF_TEXT(x)

functions found;

void* open_library() {
    if (void* const loaded = dlopen("libcupti.so." LASTREF_QUOTED(LASTREF_CUPTI_MAJOR), RTLD_NOW | RTLD_NOLOAD))
        return loaded;
    char const* const places[] = {getenv(LASTREF_CUPTI_VARIABLE),
                                  LASTREF_CUPTI_PLACES(LASTREF_QUOTED(LASTREF_CUPTI_MAJOR))};
    for (char const* place : places) {
        if (place == nullptr || *place == 0) continue;
        if (void* const library = dlopen(place, RTLD_NOW | RTLD_LOCAL)) return library;
    }
    return nullptr;
}

template <class Function>
bool find(void* library, char const* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

}  // namespace

functions const* load() {
    if (dlopen == nullptr) return nullptr;  // see libc_versions.h
    void* const library = open_library();
    if (library == nullptr) return nullptr;
    bool const counts = find(library, "cuptiGetVersion", found.get_version) &&
                        find(library, "cuptiSubscribe", found.subscribe) &&
                        find(library, "cuptiEnableDomain", found.enable_domain) &&
                        find(library, "cuptiGetCallbackName", found.callback_name);
    find(library, "cuptiActivityRegisterCallbacks", found.register_callbacks);
    find(library, "cuptiActivityRegisterTimestampCallback", found.register_clock);
    find(library, "cuptiActivityEnable", found.enable);
    find(library, "cuptiActivityFlushAll", found.flush);
    find(library, "cuptiActivityFlushPeriod", found.flush_period);
    find(library, "cuptiActivityGetNextRecord", found.next_record);
    find(library, "cuptiActivityGetNumDroppedRecords", found.dropped);
    find(library, "cuptiSetThreadIdType", found.thread_ids);
    return counts ? &found : nullptr;
}

// The records grow from one major version to the next.
bool can_read_activities(functions const& of) {
    uint32_t version = 0;
    bool const complete = of.register_callbacks && of.register_clock && of.enable && of.flush && of.flush_period &&
                          of.next_record && of.dropped && of.thread_ids;
    return complete && of.get_version(&version) == CUPTI_SUCCESS && version / 10000 == CUPTI_API_VERSION / 10000;
}

}  // namespace lastref::cupti
