// What the driver loads inside the first cuInit where `lastref record --audit` or `--cupti` asked for it
// (CUDA_INJECTION64_PATH). It counts driver calls as CUPTI sees them, so that the report can say whether the hooks saw
// all, and with --cupti records what the device did. It never ends the program, and says at most one line.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/cupti/activities.h"
#include "collector/cupti/file.h"
#include "collector/cupti/functions.h"
#include "collector/cupti/strays.h"

namespace lastref::cupti {
namespace {

cupti_file::header* header = nullptr;
CUpti_SubscriberHandle subscriber = nullptr;
bool forked = false;

void say(char const* why) {
    fprintf(stderr, "lastref: CUPTI: %s; recording goes on without it\n", why);
}

int give_up(char const* why) {
    say(why);
    if (header != nullptr) {
        strncpy(header->why, why, sizeof header->why - 1);
        header->now.store(cupti_file::state::unavailable);
    }
    return 1;  // the driver's word for success: the program's own cuInit is not to fail for our sake
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, void const* data) {
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id >= cupti_file::max_calls || forked) return;
    auto const& call = *static_cast<CUpti_CallbackData const*>(data);
    auto& count = header->counts[id];
    if (call.callbackSite == CUPTI_API_ENTER) {
        count.calls.fetch_add(1, std::memory_order_relaxed);
        strays::look_at(id);
        return;
    }
    auto const* const result = static_cast<CUresult const*>(call.functionReturnValue);
    if (result != nullptr && *result != CUDA_SUCCESS && *result != CUDA_ERROR_NOT_READY)
        count.failed.fetch_add(1, std::memory_order_relaxed);
}

// Asked for before the first callback, so that reading the file needs no CUPTI.
void learn_names(functions const& with) {
    for (uint32_t id = 0; id < cupti_file::max_calls; ++id) {
        char const* name = nullptr;
        if (with.callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS && name != nullptr)
            strncpy(header->counts[id].name, name, sizeof header->counts[id].name - 1);
    }
}

void at_exit() {
    if (forked || header == nullptr) return;
    if (header->with_activities) activities::flush();
    header->now.store(cupti_file::state::flushed);
}

int start() {
    char const* const folder = getenv("LASTREF_SPOOL_DIR");
    char const* const wanted = getenv("LASTREF_CUPTI");
    if (folder == nullptr || wanted == nullptr) return 1;
    header = file::create(folder);
    if (header == nullptr) return give_up("its file cannot be made beside the spool");
    functions const* const with = load();
    if (with == nullptr) return give_up("libcupti was not found (LASTREF_CUPTI_LIBRARY names one)");
    with->get_version(&header->cupti_version);
    learn_names(*with);
    CUptiResult const result = with->subscribe(&subscriber, on_call, nullptr);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) return give_up("another tool uses it already");
    if (result != CUPTI_SUCCESS) return give_up("it cannot be subscribed to");
    pthread_atfork(nullptr, nullptr, [] { forked = true; });
    strays::prepare(*header);
    if (with->enable_domain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) != CUPTI_SUCCESS)
        return give_up("it calls nothing back");
    header->with_activities = strcmp(wanted, "activities") == 0;
    if (header->with_activities && !(can_read_activities(*with) && activities::begin(*with, *header))) {
        say("its activities cannot be had");
        header->with_activities = 0;
    }
    atexit(at_exit);
    return 1;
}

}  // namespace
}  // namespace lastref::cupti

// The driver's protocol for injected libraries.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    static bool begun = false;
    if (begun) return 1;
    begun = true;
    return lastref::cupti::start();
}
