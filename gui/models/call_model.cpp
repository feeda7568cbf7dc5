#include "gui/models/call_model.h"

#include "analyzer/findings/wording.h"
#include "gui/models/roles.h"
#include "gui/models/words.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <limits>

namespace lastref::gui {
namespace {

QString tr(char const* text) {
    return QCoreApplication::translate("calls", text);
}

bool is_number(call_column column) {
    switch (column) {
        case call_column::at:
        case call_column::duration:
        case call_column::object:
        case call_column::size:
        case call_column::other:
        case call_column::event:
            return true;
        default:
            return false;
    }
}

QString title_of(call_column column) {
    switch (column) {
        case call_column::at:
            return tr("Time");
        case call_column::call:
            return tr("Call");
        case call_column::result:
            return tr("Result");
        case call_column::duration:
            return tr("Duration");
        case call_column::thread:
            return tr("Thread");
        case call_column::stream:
            return tr("Stream");
        case call_column::object:
            return tr("Object");
        case call_column::size:
            return tr("Size");
        case call_column::other:
            return tr("Other");
        case call_column::context:
            return tr("Context");
        case call_column::process:
            return tr("Process");
        case call_column::event:
            return tr("Event");
        case call_column::count:
            break;
    }
    return {};
}

QString at_text(store::time_ns at) {
    return QString::number(static_cast<double>(at) / 1e9, 'f', 6) + QStringLiteral(" s");
}

QString result_text(store::event const& e) {
    if (!e.returned()) return tr("did not return");
    return e.succeeded() ? tr("ok") : text_of(findings::result_text(e.result));
}

bool is_timed(store::event const& e) {
    return e.duration != store::not_returned && (e.flags & store::event_flag::no_duration) == 0;
}

QString stream_text(store::event const& e, store::api const& api) {
    switch (e.stream) {
        case 0:
            if (api.default_stream == store::default_stream::none) return {};
            return api.default_stream == store::default_stream::per_thread ? tr("per-thread (0)") : tr("legacy (0)");
        case 1:
            return tr("legacy");
        case 2:
            return tr("per-thread");
        default:
            return handle_text(e.stream);
    }
}

}  // namespace

facets facets_of_call(store::event const& e, loaded_trace const& in) {
    auto const* thread = in.find(e.thread);
    return {thread ? thread->process : store::process_id{},
            {e.thread},
            {e.stream},
            {e.object, e.other, e.stream > 2 ? e.stream : 0},  // a stream is an object as well
            {},
            e.begin,
            e.end()};
}

std::vector<filter_kind> filters_of_calls() {
    return {filter_kind::time, filter_kind::process, filter_kind::thread, filter_kind::stream, filter_kind::object};
}

void call_model::show(std::unique_ptr<call_source> source) {
    beginResetModel();
    source_ = std::move(source);
    endResetModel();
}

// A file that was damaged since it was opened shows empty rows.
store::event const* call_model::event_at(int row) const {
    try {
        return source_ ? source_->at(row) : nullptr;
    } catch (store::error const&) {
        return nullptr;
    }
}

int call_model::row_of(store::event_id id) const {
    try {
        auto const row = source_ ? source_->row_of(id) : std::nullopt;
        return row && *row < rowCount() ? static_cast<int>(*row) : -1;
    } catch (store::error const&) {
        return -1;
    }
}

facets call_model::facets_of(store::event const& e) const {
    return facets_of_call(e, source_->loaded());
}

int call_model::rowCount(QModelIndex const& parent) const {
    if (parent.isValid() || !source_) return 0;
    return static_cast<int>(std::min<std::int64_t>(source_->rows(), std::numeric_limits<int>::max()));
}

int call_model::columnCount(QModelIndex const& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(call_column::count);
}

QString call_model::thread_text(store::event const& e) const {
    auto const* thread = source_->loaded().find(e.thread);
    if (!thread) return {};
    if (thread->main) return tr("main");
    return QStringLiteral("%1 (%2)").arg(text_of(thread->name)).arg(thread->tid);
}

QString call_model::process_text(store::event const& e) const {
    auto const* thread = source_->loaded().find(e.thread);
    auto const* process = thread ? source_->loaded().find(thread->process) : nullptr;
    return process ? text_of(findings::process_name(*process)) : QString();
}

QString call_model::text(store::event const& e, call_column column) const {
    switch (column) {
        case call_column::at:
            return at_text(e.begin);
        case call_column::call:
            return text_of(source_->api_of(e).symbol);
        case call_column::result:
            return result_text(e);
        case call_column::duration:
            return is_timed(e) ? duration_text(e.duration) : QString();
        case call_column::thread:
            return thread_text(e);
        case call_column::stream:
            return stream_text(e, source_->api_of(e));
        case call_column::object:
            return handle_text(e.object);
        case call_column::size:
            return e.size == 0 ? QString() : count_text(e.size);
        case call_column::other:
            return handle_text(e.other);
        case call_column::context: {
            auto const* context = source_->context_of(e);
            return context ? handle_text(context->handle) : QString();
        }
        case call_column::process:
            return process_text(e);
        case call_column::event:
            return QString::number(e.id.value);
        case call_column::count:
            break;
    }
    return {};
}

QVariant call_model::data(QModelIndex const& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    auto const column = static_cast<call_column>(index.column());
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(is_number(column) ? Qt::AlignRight : Qt::AlignLeft) |
                                   Qt::AlignVCenter);
    bool const shown = role == Qt::DisplayRole || role == Qt::ToolTipRole;
    if (!shown && role != event_role && role != severity_role) return {};
    auto const* e = event_at(index.row());
    if (e == nullptr) return {};
    if (role == event_role) return qint64{e->id.value};
    if (role == severity_role)
        return column == call_column::result && e->returned() && !e->succeeded()
                   ? QVariant(static_cast<int>(findings::severity::warning))
                   : QVariant();
    return text(*e, column);
}

QVariant call_model::headerData(int section, Qt::Orientation orientation, int role) const {
    bool const known = section >= 0 && section < columnCount();
    if (orientation != Qt::Horizontal || !known) return {};
    auto const column = static_cast<call_column>(section);
    if (role == Qt::DisplayRole) return title_of(column);
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::Alignment(is_number(column) ? Qt::AlignRight : Qt::AlignLeft) |
                                   Qt::AlignVCenter);
    return {};
}

}  // namespace lastref::gui
