#include "tests/simdriver/core/thread_state.h"

#include <pthread.h>

#include <atomic>

#include "tests/simdriver/core/driver.h"

namespace lastref::simdriver {
namespace {

thread_local thread_state* current_state = nullptr;

void thread_ends(void* state) {
    auto* const ending = static_cast<thread_state*>(state);
    thread_gone(*ending);
    current_state = nullptr;
    delete ending;
}

pthread_key_t key_of_state() {
    static pthread_key_t const key = [] {
        pthread_key_t made;
        pthread_key_create(&made, thread_ends);
        return made;
    }();
    return key;
}

thread_state* make_state() {
    static std::atomic<std::uint64_t> last_id{0};
    auto* const state = new thread_state;
    state->id = ++last_id;
    pthread_setspecific(key_of_state(), state);
    return state;
}

}  // namespace

thread_state& this_thread() {
    if (!current_state) current_state = make_state();
    return *current_state;
}

}  // namespace lastref::simdriver
