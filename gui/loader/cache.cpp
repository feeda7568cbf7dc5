#include "gui/loader/cache.h"

#include "analyzer/findings/fingerprint.h"
#include "gui/loader/kept.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QStandardPaths>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <tuple>
#include <vector>

namespace lastref::gui {

namespace fs = std::filesystem;

// --- fields ----------------------------------------------------------------------------------------------------------

}  // namespace lastref::gui

namespace lastref::curves {

struct kept_access {
    static auto fields(series& s) { return std::tie(s.name_, s.steps_, s.levels_, s.greatest_, s.grain_); }
};

}  // namespace lastref::curves

namespace lastref::gui {
namespace scenes {

// The fields of every type that is no plain value. A type that gets a field gets it here too, and `format` goes up.
struct kept_access {
    static constexpr int format = 1;

    static auto fields(stack_row& r) { return std::tie(r.function, r.place, r.file, r.line, r.own, r.instead); }
    static auto fields(site_row& r) { return std::tie(r.role, r.where, r.entry_point, r.note, r.event, r.stack); }
    static auto fields(consequence_row& r) { return std::tie(r.rule, r.text, r.sites); }
    static auto fields(finding_row& r) {
        return std::tie(r.rule, r.severity, r.state, r.confidence, r.confidence_reason, r.title, r.what, r.holders,
                        r.why, r.advice, r.place, r.process, r.process_name, r.threads, r.streams, r.objects,
                        r.first_seen, r.last_seen, r.count, r.bytes, r.fingerprint, r.sites, r.consequences,
                        r.suppression, r.markdown, r.command_line);
    }
    static auto fields(holder_row& r) { return std::tie(r.kind, r.text, r.references, r.handle, r.since); }
    static auto fields(outstanding_row& r) {
        return std::tie(r.kind, r.process, r.thread, r.handle, r.payload, r.bytes, r.created, r.age, r.event, r.stack,
                        r.entry_point, r.site, r.holders, r.finding);
    }
    static auto fields(suppression_row& r) { return std::tie(r.text, r.file, r.line, r.matches); }
    static auto fields(process_row& r) { return std::tie(r.id, r.name, r.command_line, r.end, r.calls); }
    static auto fields(findings::loss_counter& r) { return std::tie(r.name, r.text, r.count, r.hides); }
    static auto fields(gate::earlier_finding& r) {
        return std::tie(r.fingerprint, r.rule, r.severity, r.title, r.place, r.count, r.bytes);
    }
    static auto fields(gate::baseline& r) { return std::tie(r.path, r.complete, r.findings); }
    static auto fields(call_index& r) { return std::tie(r.rows_, r.firsts_); }
    static auto fields(object_lives& r) { return std::tie(r.all_); }

    static auto fields(track& t) {
        return std::tie(t.kind, t.group, t.name, t.thread, t.stream, t.depth, t.entries, t.levels);
    }
    static auto fields(group& g) { return std::tie(g.process, g.name, g.first_track, g.tracks); }
    static auto fields(mark& m) { return std::tie(m.process, m.at, m.what, m.text); }
    static auto fields(store::range& r) { return std::tie(r.process, r.name, r.begin, r.end, r.before, r.last); }
    static auto fields(call_timeline& t) {
        return std::tie(t.spans_, t.tracks_, t.groups_, t.marks_, t.names_, t.styles_, t.ranges_, t.styles_used_,
                        t.begin_, t.end_);
    }
    static auto fields(series& s) { return lastref::curves::kept_access::fields(s); }
    static auto fields(chart& c) { return std::tie(c.title, c.unit, c.lines, c.marks, c.begin, c.end); }
    static auto fields(histogram& h) { return std::tie(h.title, h.bins, h.count, h.median, h.longest, h.inferred); }
    static auto fields(scenes::curves& c) {
        return std::tie(c.payloads, c.memory, c.pools, c.pools_left_out, c.graph_memory, c.backlog, c.backlog_bytes,
                        c.clean_up, c.marks);
    }
    static auto fields(payload_stories::owner& o) {
        return std::tie(o.id, o.kind, o.handle, o.made, o.made_at, o.gone_at, o.source, o.launches, o.last_launch,
                        o.last_stream);
    }
    static auto fields(payload_stories& s) { return std::tie(s.payloads_, s.owners_, s.changes_, s.marks_, s.end_); }
    static auto fields(shutdown_item& i) { return std::tie(i.what, i.how, i.count, i.bytes, i.first); }
    static auto fields(shutdown_phase& p) {
        return std::tie(p.step, p.begin, p.end, p.released, p.failed, p.destructors);
    }
    static auto fields(shutdown_process& p) {
        return std::tie(p.process, p.name, p.ended, p.orderly, p.phases, p.left, p.intended, p.left_bytes);
    }
    static auto fields(scenes::shutdown& s) { return std::tie(s.processes); }
    static auto fields(allocation_history& a) {
        return std::tie(a.allocations_, a.begin_, a.end_, a.peak_at_, a.peak_bytes_);
    }
};

}  // namespace scenes

template <class Archive, class Value>
void keep(Archive& a, Value& value) {
    if constexpr (std::is_trivially_copyable_v<Value>)
        a.bytes(&value, sizeof value);
    else if constexpr (std::is_same_v<Value, std::string>)
        keep_text(a, value);
    else if constexpr (requires {
                           typename Value::value_type;
                           value.push_back(value[0]);
                       })
        keep_list(a, value);
    else if constexpr (requires { value.use_count(); })
        keep_shared(a, value);
    else
        std::apply([&a](auto&... each) { (keep(a, each), ...); }, scenes::kept_access::fields(value));
}

namespace {

using stop = std::function<void(double)>;

// Everything that load() makes and opening the file does not. The long parts last.
template <class Archive>
void keep_all(Archive& a, loaded_trace& trace, stop const& tell) {
    auto const part = [&](double share, auto&... values) {
        tell(share);
        (keep(a, values), ...);
    };
    part(0, trace.end, trace.events, trace.process_rows, trace.findings, trace.outstanding, trace.losses,
         trace.incomplete, trace.suppressions, trace.verdict, trace.verdict_text, trace.as_baseline, trace.calls,
         trace.ledger);
    part(0.1, trace.curves, trace.shutdown, trace.stories);
    part(0.2, trace.objects);
    part(0.3, trace.allocations);
    part(0.4, trace.timeline);
    tell(1);
}

struct file_closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, file_closer>;

// An empty one is none: whoever opens a trace to read it may leave an empty log beside it.
std::string stamp_of(std::string const& path) {
    struct stat s {};
    if (stat(path.c_str(), &s) != 0 || s.st_size == 0) return "none";
    return fmt::format("{} {} {} {}.{}", s.st_dev, s.st_ino, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

std::string content_of(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

// What was made depends on it: another state of the file, other suppressions or another build give another.
std::string key_of(load_request const& request) {
    std::error_code failed;
    auto out = fmt::format("{} {}\n{}\n{}\n{}\n{}\n", scenes::kept_access::format, sizeof(loaded_trace),
                           fs::absolute(request.path, failed).string(), stamp_of(request.path),
                           stamp_of(request.path + "-wal"), stamp_of("/proc/self/exe"));
    for (auto const& path : request.suppressions) out += path + '\n' + content_of(path) + '\n';
    return out;
}

}  // namespace

// --- finding ---------------------------------------------------------------------------------------------------------

fs::path summary_cache::file_of(std::string const& trace) const {
    std::error_code failed;
    auto const name = findings::hash().add(fs::absolute(trace, failed).string()).hex();
    return folder_ / (name + ".kept");
}

trace_pointer summary_cache::find(load_request const& request, std::string const& key, load_watch const& watch) const {
    auto const path = file_of(request.path);
    std::error_code failed;
    auto const size = fs::file_size(path, failed);
    file const from(failed ? nullptr : std::fopen(path.c_str(), "rb"));
    if (!from) return nullptr;
    try {
        kept_reader a(from.get(), size);
        std::string kept_for;
        keep_text(a, kept_for);
        if (kept_for != key) return nullptr;
        auto out = std::make_shared<loaded_trace>(request.path);
        keep_all(a, *out, [&watch](double share) {
            if (!watch(load_stage::reading, share)) throw load_cancelled();
        });
        auto const sum = a.sum();
        std::uint64_t written = 0;
        a.bytes(&written, sizeof written);
        if (written != sum) return nullptr;
        out->kept_key = key;
        out->from_cache = true;
        fs::last_write_time(path, fs::file_time_type::clock::now(), failed);  // the least used go first
        return out;
    } catch (kept_error const&) {
        return nullptr;
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

trace_pointer summary_cache::load(load_request const& request, load_watch const& watch) const {
    auto const key = key_of(request);  // before it is read: what comes meanwhile gives another
    if (auto found = find(request, key, watch)) return found;
    auto made = gui::load(request, watch);
    std::const_pointer_cast<loaded_trace>(made)->kept_key = key;  // nobody else has it yet
    return made;
}

// --- keeping ---------------------------------------------------------------------------------------------------------

void summary_cache::write(loaded_trace const& trace, fs::path const& to, std::atomic<bool> const& stopped) const {
    file const out(std::fopen(to.c_str(), "wb"));
    if (!out) throw kept_error("cannot be made");
    kept_writer a(out.get());
    auto key = trace.kept_key;
    keep_text(a, key);
    // Writing changes nothing: the same list of fields reads and writes.
    keep_all(a, const_cast<loaded_trace&>(trace), [&stopped](double) {
        if (stopped) throw kept_error("stopped");
    });
    auto const sum = a.sum();
    a.bytes(&sum, sizeof sum);
    if (std::fflush(out.get()) != 0) throw kept_error("cannot be written");
}

void summary_cache::keep(loaded_trace const& trace, std::atomic<bool> const& stopped) const {
    bool const wanted = trace.state == store::trace_state::complete && trace.events >= least_ && !trace.from_cache &&
                        !trace.kept_key.empty();
    if (!wanted) return;
    std::error_code failed;
    fs::create_directories(folder_, failed);
    fs::permissions(folder_, fs::perms::owner_all, failed);
    auto const to = file_of(trace.path);
    auto const half = fs::path(to.string() + fmt::format(".{}", getpid()));
    try {
        write(trace, half, stopped);
        fs::rename(half, to, failed);
        make_room();
    } catch (kept_error const&) {
        failed = std::make_error_code(std::errc::io_error);
    }
    if (failed) fs::remove(half, failed);
}

void summary_cache::make_room() const {
    std::error_code failed;
    std::vector<fs::directory_entry> all;
    std::uint64_t bytes = 0;
    for (auto const& each : fs::directory_iterator(folder_, failed)) {
        if (!each.is_regular_file(failed) || each.path().extension() != ".kept") continue;
        bytes += each.file_size(failed);
        all.push_back(each);
    }
    std::sort(all.begin(), all.end(), [&failed](auto const& a, auto const& b) {
        return a.last_write_time(failed) < b.last_write_time(failed);
    });
    for (auto const& oldest : all) {
        if (bytes <= most_bytes) break;
        bytes -= std::min<std::uint64_t>(bytes, oldest.file_size(failed));
        fs::remove(oldest.path(), failed);
    }
}

summary_cache default_cache() {
    return summary_cache(QStandardPaths::writableLocation(QStandardPaths::CacheLocation).toStdString());
}

trace_pointer load_or_find(load_request const& request, load_watch const& watch) {
    return default_cache().load(request, watch);
}

}  // namespace lastref::gui
