// CUPTI's functions, found at run time: a framework that brings its own copy has it loaded, and then that one is meant.
#pragma once

#include <cupti.h>

namespace lastref::cupti {

struct functions {
    decltype(&cuptiGetVersion) get_version;
    decltype(&cuptiSubscribe) subscribe;
    decltype(&cuptiEnableDomain) enable_domain;
    decltype(&cuptiGetCallbackName) callback_name;
    decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
    decltype(&cuptiActivityRegisterTimestampCallback) register_clock;
    decltype(&cuptiActivityEnable) enable;
    decltype(&cuptiActivityFlushAll) flush;
    decltype(&cuptiActivityFlushPeriod) flush_period;
    decltype(&cuptiActivityGetNextRecord) next_record;
    decltype(&cuptiActivityGetNumDroppedRecords) dropped;
    decltype(&cuptiSetThreadIdType) thread_ids;
};

// Null where there is no CUPTI, or one without the functions that counting needs. The structure lives for ever.
functions const* load();

// Whether activities of this CUPTI have the layouts that this library was compiled with.
bool can_read_activities(functions const& of);

}  // namespace lastref::cupti
