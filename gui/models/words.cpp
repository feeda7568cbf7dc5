#include "gui/models/words.h"

#include "analyzer/findings/wording.h"

#include <QCoreApplication>

namespace lastref::gui {
namespace {

QString tr(char const* text) {
    return QCoreApplication::translate("words", text);
}

}  // namespace

QString text_of(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString place_text(std::string_view place) {
    return text_of(place).remove(QStringLiteral("(anonymous namespace)::"));
}

QString bytes_text(std::uint64_t bytes) {
    return bytes == 0 ? QString() : text_of(findings::bytes_text(bytes));
}

QString time_text(store::time_ns at) {
    return text_of(findings::time_text(at));
}

QString duration_text(store::time_ns length) {
    return text_of(findings::duration_text(length));
}

QString handle_text(store::handle handle) {
    return handle == 0 ? QString() : text_of(findings::handle_text(handle));
}

QString count_text(std::uint64_t count) {
    return text_of(findings::counted(static_cast<std::int64_t>(count)));
}

QString severity_text(findings::severity severity) {
    switch (severity) {
        case findings::severity::error:
            return tr("error");
        case findings::severity::warning:
            return tr("warning");
        case findings::severity::note:
            break;
    }
    return tr("note");
}

QString rule_text(findings::rule rule) {
    return text_of(findings::info(rule).name);
}

QString kind_text(model::object_kind kind) {
    return text_of(model::name_of(kind));
}

QString holder_text(holder_kind kind) {
    switch (kind) {
        case holder_kind::program:
            return tr("the program");
        case holder_kind::graph:
            return tr("a graph");
        case holder_kind::graph_exec:
            return tr("an executable graph");
        case holder_kind::launch:
            return tr("a launch in flight");
        case holder_kind::nobody:
            break;
    }
    return tr("nobody: due");
}

}  // namespace lastref::gui
