#include "collector/drain/drain_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>

#include "collector/drain/spool_place.h"

namespace lastref::drain {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds between_progress{200};
constexpr milliseconds between_looks{50};

void block_all_signals() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
}

// Takes every signal as it comes, in a thread of its own, since a pass may last longer than the recorder can wait.
void count_signals(group_signals& shared) {
    sigset_t all;
    sigfillset(&all);
    for (;;) {
        int const signal = sigwaitinfo(&all, nullptr);
        if (signal > 0 && static_cast<std::size_t>(signal) < shared.seen.size())
            ++shared.seen[static_cast<std::size_t>(signal)];
    }
}

// The program's own input and output must not stay open for longer than the program and its children want.
void let_go_of_terminal() {
    int const null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
    if (null > 2) close(null);
}

constexpr char const heirs_note[] =
    "a process that the program left behind was still running when recording ended, with the driver loaded: what it "
    "calls later is not recorded";

drain_message make_message(drain_message::kind what, std::string const& text = {}) {
    drain_message message{};
    message.what = what;
    text.copy(message.text, sizeof message.text - 1);
    return message;
}

void tell(int fd, drain_message const& message) {
    static_assert(sizeof message <= PIPE_BUF);
    [[maybe_unused]] ssize_t const written = write(fd, &message, sizeof message);
}

// How the drain hears of the recorder.
class recorder_control final : public drain_control {
  public:
    recorder_control(int from, int to, drain_settings const& settings) : from_(from), to_(to), settings_(settings) {
        fcntl(from, F_SETFL, O_NONBLOCK);
    }

    void sleep(milliseconds most) override {
        if (recorder_gone_) return std::this_thread::sleep_for(most);
        pollfd heard{from_, POLLIN, 0};
        if (poll(&heard, 1, static_cast<int>(most.count())) > 0) listen();
    }

    bool more_may_come() override {
        listen();
        if (recorder_gone_ && !ended_) return kill(settings_.program, 0) == 0;
        return !ended_ || (!out_of_patience() && heirs());
    }

    // A process that the program has left behind, with the driver in it, may yet call: a daemon does so once it has
    // made itself one.
    bool heirs() {
        if (clock::now() >= looked_for_heirs_ + between_looks) {
            heirs_ = any_may_spool_to(settings_.folder);
            looked_for_heirs_ = clock::now();
        }
        return heirs_;
    }

    bool out_of_patience() override { return hurry_ || (ended_ && clock::now() > *ended_ + settings_.grace); }

    void report_exits(folder_drain& drain) override {
        auto const program = static_cast<std::uint32_t>(settings_.program);
        drain.await_exit(ended_ || recorder_gone_ ? 0 : program);
        if (ended_) drain.set_exit(program, exit_);
    }

    void progressed(std::uint64_t records) override {
        if (!ended_ || clock::now() < told_ + between_progress) return;
        told_ = clock::now();
        drain_message message = make_message(drain_message::kind::progress);
        message.records = records;
        tell(to_, message);
    }

  private:
    void listen() {
        recorder_message message;
        for (;;) {
            ssize_t const got = read(from_, &message, sizeof message);
            if (got == 0) recorder_gone_ = true;
            if (got != sizeof message) return;
            hurry_ = hurry_ || message.what == recorder_message::kind::hurry;
            if (message.what == recorder_message::kind::ended) note_end(message.wait_status);
        }
    }

    void note_end(int status) {
        ended_ = told_ = clock::now();
        if (WIFEXITED(status)) exit_.status = WEXITSTATUS(status);
        if (WIFSIGNALED(status)) exit_.signal = WTERMSIG(status);
    }

    int from_, to_;
    drain_settings settings_;
    std::optional<clock::time_point> ended_;
    clock::time_point told_;
    exit_result exit_;
    clock::time_point looked_for_heirs_{};
    bool heirs_ = false;
    bool hurry_ = false;
    bool recorder_gone_ = false;
};

std::uint64_t count_losses(trace_file& trace) {
    statement query(trace.db(), "SELECT coalesce(sum(count), 0) FROM loss");
    return query.next() ? static_cast<std::uint64_t>(query.integer(0)) : 0;
}

drain_message report(drain_outcome const& outcome, trace_file& trace) {
    drain_message message = make_message(drain_message::kind::done, outcome.error);
    message.calls = outcome.counts.calls;
    message.processes = outcome.counts.processes;
    message.unfinished = outcome.counts.unfinished;
    message.losses = count_losses(trace) + outcome.unreadable.size();
    return message;
}

timespec wall_clock() {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

// Everything that the process does.
void drain_for_recorder(trace_claim& claim, drain_settings const& settings, int from, int to) {
    try {
        trace_file trace(claim);
        timespec const wall = wall_clock();
        trace.start_at(static_cast<std::int64_t>(read_clocks(spool::clock_kind::monotonic_ns).ns),
                       wall.tv_sec * std::int64_t{1'000'000'000} + wall.tv_nsec);
        trace.set_meta("spool_folder", settings.folder.string());
        tell(to, make_message(drain_message::kind::ready));
        recorder_control control(from, to, settings);
        drain_outcome const outcome = drain_all(settings.folder, {}, trace, control);
        if (control.heirs() && outcome.counts.unfinished == 0) trace.add_note(heirs_note);
        tell(to, report(outcome, trace));
        // Where the recorder is gone, nobody else removes the folder; it stays if something is left in it.
        remove_spool_folder(settings.folder);
    } catch (std::exception const& error) {
        tell(to, make_message(drain_message::kind::failed, error.what()));
    }
}

}  // namespace

void drain_process::unmapper::operator()(group_signals* shared) const {
    munmap(shared, sizeof *shared);
}

drain_process::drain_process(trace_claim& claim, drain_settings const& settings,
                             std::function<void()> const& in_child) {
    void* const memory =
        mmap(nullptr, sizeof(group_signals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "no memory");
    shared_.reset(new (memory) group_signals);
    pipe_ends to = make_pipe(), from = make_pipe();
    pid_ = fork();
    if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "no process can be started");
    if (pid_ == 0) {
        block_all_signals();
        to.write.reset();
        from.read.reset();
        in_child();
        let_go_of_terminal();
        std::thread(count_signals, std::ref(*shared_)).detach();
        drain_for_recorder(claim, settings, to.read.get(), from.write.get());
        _exit(0);
    }
    to_ = std::move(to.write);
    from_ = std::move(from.read);
}

drain_process::~drain_process() {
    to_.reset();
    from_.reset();
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
}

std::optional<drain_message> drain_process::receive() {
    drain_message message;
    ssize_t got;
    do {
        got = read(from_.get(), &message, sizeof message);
    } while (got < 0 && errno == EINTR);
    if (got != sizeof message) return std::nullopt;
    return message;
}

void drain_process::send(recorder_message const& message) {
    [[maybe_unused]] ssize_t const written = write(to_.get(), &message, sizeof message);
}

}  // namespace lastref::drain
