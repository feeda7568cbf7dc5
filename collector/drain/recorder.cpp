#include "collector/drain/recorder.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "collector/drain/drain_process.h"
#include "collector/drain/elf_check.h"
#include "collector/drain/spool_place.h"

namespace lastref::drain {
namespace {

namespace fs = std::filesystem;

constexpr int not_found = 127, not_executable = 126, wrong_use = 2;
constexpr int most_drains = 4;
// For a signal to the group to reach the drain as well as us.
constexpr std::chrono::milliseconds group_delay{10};

constexpr int relayed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGPIPE};

// Why the program is not started, and the status that a shell would give.
struct refusal {
    int status;
    std::string why;
};

std::string named(std::string const& name) {
    return "'" + name + "' ";
}

std::optional<std::string> unrecordable(program_kind kind) {
    switch (kind) {
        case program_kind::recordable:
        case program_kind::unreadable:
        case program_kind::other:
            return std::nullopt;
        case program_kind::statically_linked:
            return "is statically linked: nothing can be preloaded into it, so it can't be recorded";
        case program_kind::other_machine:
            return "is a 32-bit program or one for another processor: it can't be recorded";
        case program_kind::other_libc:
            return "is linked with another C library than glibc: it can't be recorded";
    }
    return std::nullopt;
}

fs::path find_recordable(std::string const& name) {
    found_program const found = find_program(name, std::getenv("PATH"));
    if (found.error == ENOENT || found.error == ENOTDIR) throw refusal{not_found, named(name) + "was not found"};
    if (found.error) throw refusal{not_executable, named(name) + "can't be run: " + std::strerror(found.error)};
    if (auto const why = unrecordable(classify_program(found.path))) throw refusal{not_executable, named(name) + *why};
    return found.path;
}

// Signals for us are taken one by one from a descriptor; the program gets them as they were.
class signal_taker {
  public:
    signal_taker() {
        struct sigaction child;
        sigaction(SIGCHLD, nullptr, &child);
        former_.child_ignored = child.sa_handler == SIG_IGN;
        signal(SIGCHLD, SIG_DFL);  // ignored, it would make wait() forget how the program ended
        sigset_t taken;
        sigemptyset(&taken);
        sigaddset(&taken, SIGCHLD);
        for (int const one : relayed) sigaddset(&taken, one);
        sigprocmask(SIG_BLOCK, &taken, &former_.mask);
        fd_ = descriptor(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
    }
    ~signal_taker() {
        signal(SIGCHLD, former_.child_ignored ? SIG_IGN : SIG_DFL);
        sigprocmask(SIG_SETMASK, &former_.mask, nullptr);
    }
    signal_taker(signal_taker const&) = delete;

    signal_state const& former() const { return former_; }
    int fd() const { return fd_.get(); }
    std::optional<signalfd_siginfo> take() const {
        signalfd_siginfo info;
        if (read(fd_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
        return info;
    }

  private:
    signal_state former_{};
    descriptor fd_;
};

std::string default_name(std::string const& program, pid_t pid) {
    return fs::path(program).filename().string() + "-" + std::to_string(pid) + ".lastref";
}

class recording {
  public:
    recording(record_options const& options, recorder_output const& output) : options_(options), output_(output) {}

    record_result run() {
        fs::path const program = find_recordable(options_.command.front());
        if (access(options_.library.c_str(), R_OK))
            throw refusal{wrong_use,
                          named(options_.library.string()) + "is not there: without it nothing can be recorded"};
        if (changes_user(program))
            output_.note(
                named(options_.command.front()) +
                "changes the user or group: the system preloads nothing into it, so its own calls can't be recorded");
        launch_ = std::make_unique<program_launch>(program, options_.command, signals_.former());
        result_.trace = options_.trace.value_or(default_name(options_.command.front(), launch_->pid()));
        place_ = std::make_unique<spool_place>(options_.spool_parent, result_.trace.parent_path());
        changed_environment const environment = environment_for_program();
        claim_ = std::make_unique<trace_claim>(
            result_.trace, options_.replace ? trace_claim::existing::replace : trace_claim::existing::refuse);
        start_first_drain();
        start_program(environment.all());
        wait_for_program();
        wait_for_drain();
        return std::move(result_);
    }

  private:
    changed_environment environment_for_program() {
        changed_environment environment;
        environment.prepend("LD_PRELOAD", place_->preloadable(options_.library).string(), ':');
        // A program of the address sanitizer refuses to run where its runtime does not come first, though nothing that
        // the sanitizer replaces is in our library.
        environment.prepend("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
        environment.set("LASTREF_SPOOL_DIR", place_->path().string());
        environment.set("LASTREF_DRAINED", "1");
        if (options_.stacks) environment.set("LASTREF_STACKS", *options_.stacks);
        if (!options_.arguments) environment.set("LASTREF_ARGS", "off");
        if (options_.with_cupti != record_options::cupti::off) ask_cupti(environment);
        if (options_.simulated) environment.prepend("LD_LIBRARY_PATH", options_.simulated->string(), ':');
        return environment;
    }

    // The driver loads one injected library only: who has chosen another keeps it.
    void ask_cupti(changed_environment& environment) {
        if (std::getenv("CUDA_INJECTION64_PATH"))
            return output_.note("CUDA_INJECTION64_PATH names another tool already; recording goes on without CUPTI");
        if (access(options_.cupti_library.c_str(), R_OK))
            return output_.note(named(options_.cupti_library.string()) +
                                "is not there; recording goes on without CUPTI");
        bool const audit = options_.with_cupti == record_options::cupti::audit;
        environment.set("CUDA_INJECTION64_PATH", options_.cupti_library.string());
        environment.set("LASTREF_CUPTI", audit ? "audit" : "activities");
        if (!audit) environment.set("LASTREF_DURATIONS", "all");  // a call is found again by its thread and instant
    }

    void start_drain() {
        drain_settings const settings{place_->path(), launch_->pid(), options_.grace};
        drain_.reset();
        drain_ = std::make_unique<drain_process>(*claim_, settings, [this] { launch_->forget(); });
        ++drains_;
    }

    void start_first_drain() {
        start_drain();
        auto const message = drain_->receive();
        if (message && message->what == drain_message::kind::ready) return;
        give_up_trace();
        throw refusal{wrong_use, message ? message->text : "the trace can't be written: the drain ended at once"};
    }

    // Nothing was recorded into it.
    void give_up_trace() {
        drain_.reset();
        claim_->abandon();
    }

    void start_program(std::vector<std::string> const& environment) {
        int const error = launch_->go(environment);
        if (error == 0) return;
        drain_->send({recorder_message::kind::hurry, 0});
        give_up_trace();
        throw refusal{error == ENOENT ? not_found : not_executable,
                      named(options_.command.front()) + "can't be run: " +
                          (error == ENOENT ? "its interpreter was not found" : std::strerror(error))};
    }

    void wait_for_program() {
        while (!ended_) {
            pollfd heard[] = {{signals_.fd(), POLLIN, 0}, {drain_ ? drain_->messages() : -1, POLLIN, 0}};
            poll(heard, 2, -1);
            while (auto const signal = signals_.take()) handle(*signal);
            if (drain_ && heard[1].revents) listen();
        }
    }

    void handle(signalfd_siginfo const& info) {
        auto const signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) return look_for_end();
        if (ended_) return hurry(signal);
        if (!reached_group(signal, info)) kill(launch_->pid(), signal);
    }

    // What the terminal sends, and what is sent to the whole group, the program has got already.
    bool reached_group(int signal, signalfd_siginfo const& info) {
        if (info.ssi_code == SI_KERNEL || signal == SIGWINCH || signal == SIGPIPE) return true;
        if (!drain_) return false;
        auto& known = group_signals_known_[static_cast<std::size_t>(signal)];
        auto const deadline = std::chrono::steady_clock::now() + group_delay;
        while (drain_->group_signals_seen(signal) == known) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        known = drain_->group_signals_seen(signal);
        return true;
    }

    void look_for_end() {
        int status;
        if (ended_ || waitpid(launch_->pid(), &status, WNOHANG) != launch_->pid()) return;
        ended_ = true;
        wait_status_ = status;
        result_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (drain_) drain_->send({recorder_message::kind::ended, status});
    }

    // Whoever interrupts while we wait for the rest does not want to wait.
    void hurry(int signal) {
        if (drain_ && (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT))
            drain_->send({recorder_message::kind::hurry, 0});
    }

    // A drain that is gone without a last word was killed: the next one goes on where it stopped.
    void listen() {
        auto const message = drain_->receive();
        if (!message) return replace_drain();
        switch (message->what) {
            case drain_message::kind::ready:
                break;
            case drain_message::kind::progress:
                output_.progress(message->records);
                break;
            case drain_message::kind::failed:
                replace_drain(message->text);
                break;
            case drain_message::kind::done:
                // Before the program's end it can only mean that the trace could not be written.
                if (!ended_) return replace_drain(message->text);
                done_ = *message;
                break;
        }
    }

    void replace_drain(std::string const& why = "the drain was killed") {
        drain_.reset();
        group_signals_known_ = {};
        if (drains_ >= most_drains) {
            result_.write_error = why;
            return;
        }
        start_drain();
        if (ended_) drain_->send({recorder_message::kind::ended, wait_status_});
    }

    void wait_for_drain() {
        while (drain_ && !done_) {
            pollfd heard[] = {{signals_.fd(), POLLIN, 0}, {drain_->messages(), POLLIN, 0}};
            poll(heard, 2, -1);
            while (auto const signal = signals_.take()) handle(*signal);
            if (heard[1].revents) listen();
        }
        if (done_) take_over(*done_);
        drain_.reset();
        if (result_.unfinished || !result_.write_error.empty()) result_.spools_left = place_->path();
    }

    void take_over(drain_message const& message) {
        result_.calls = message.calls;
        result_.processes = message.processes;
        result_.unfinished = message.unfinished;
        result_.losses = message.losses;
        result_.write_error = message.text;
    }

    record_options const& options_;
    recorder_output const& output_;
    record_result result_;
    signal_taker signals_;
    std::unique_ptr<spool_place> place_;
    std::unique_ptr<program_launch> launch_;
    std::unique_ptr<trace_claim> claim_;
    std::unique_ptr<drain_process> drain_;
    std::array<std::uint32_t, 65> group_signals_known_{};
    std::optional<drain_message> done_;
    int drains_ = 0;
    int wait_status_ = 0;
    bool ended_ = false;
};

}  // namespace

record_result record(record_options const& options, recorder_output const& output) {
    record_result failed;
    try {
        return recording(options, output).run();
    } catch (refusal const& why) {
        failed.status = why.status;
        failed.error = why.why;
    } catch (std::exception const& error) {  // trace_error, or the system is out of something
        failed.status = wrong_use;
        failed.error = error.what();
    }
    return failed;
}

}  // namespace lastref::drain
