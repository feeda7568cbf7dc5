// simdriver-probe [group]: asks all questions, or those of one group.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "probe.h"

namespace lastref::probe {
namespace {

char const* running = "";

// A group has a minute. What it printed before it crashed or hung counts.
void run(group const& one) {
    std::fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        running = one.name;
        alarm(60);
        one.ask();
        std::fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) std::printf("%s: ended by signal %d\n", one.name, WTERMSIG(status));
}

void run_all(group const* groups, char const* only) {
    for (; groups->name; ++groups)
        if (!only || std::strcmp(only, groups->name) == 0) run(*groups);
}

}  // namespace

void answer(char const* question, long long value) {
    std::printf("%s: %s = %lld\n", running, question, value);
    std::fflush(stdout);
}

CUcontext start() {
    CUcontext context = nullptr;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    return context;
}

CUstream make_stream(unsigned flags) {
    CUstream stream = nullptr;
    cuStreamCreate(&stream, flags);
    return stream;
}

}  // namespace lastref::probe

int main(int argc, char** argv) {
    using namespace lastref::probe;
    char const* const only = argc > 1 ? argv[1] : nullptr;
    for (group const* const family :
         {context_groups, stream_groups, memory_groups, graph_groups, capture_groups, lookup_groups})
        run_all(family, only);
}
