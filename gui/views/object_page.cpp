#include "gui/views/object_page.h"

#include "gui/models/call_search.h"
#include "gui/models/filter_offers.h"
#include "gui/models/words.h"
#include "gui/views/call_table.h"
#include "gui/views/html.h"
#include "gui/views/payload_view.h"
#include "gui/views/rich_text.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace lastref::gui {
namespace {

QString heading(QString const& text) {
    return QStringLiteral("<h4 style=\"margin-bottom:2px\">%1</h4>").arg(text);
}

QString how_it_went(model::release_cause cause) {
    switch (cause) {
        case model::release_cause::context_destroyed:
            return object_page::tr("released with its context by");
        case model::release_cause::displaced:
            return object_page::tr("its handle was handed out again by");
        case model::release_cause::call:
            break;
    }
    return object_page::tr("released by");
}

QString call_of(QString const& what, call_details_row const& call, QPalette const& palette) {
    return heading(
               QStringLiteral("%1 %2 %3").arg(what, event_link(call.event, call.entry_point), escaped(call.where))) +
           stack_html(call.stack, palette);
}

}  // namespace

object_page::object_page(QWidget* parent)
    : page(parent),
      typed_(new QLineEdit(this)),
      which_(new QComboBox(this)),
      only_(new QPushButton(tr("Show &only it"), this)),
      in_timeline_(new QPushButton(tr("In the &timeline"), this)),
      count_(new QLabel(this)),
      text_(new rich_text(tr("What became of the object"), this)),
      table_(new call_table(tr("Calls that name the object"), calls_, this)),
      story_(new payload_view(this)) {
    pass_on(*text_, static_cast<page*>(this));
    connect(story_, &payload_view::event_asked, this, &page::event_asked);
    connect(story_, &payload_view::hovered, this, &page::told);
    connect(table_, &QAbstractItemView::activated, this, [this](QModelIndex const& index) {
        if (auto const* e = calls_.event_at(index.row())) Q_EMIT event_asked(e->id.value);
    });
    table_->set_offers([this](QMenu& menu, store::event const& e) {
        if (trace_) add_offers(menu, calls_.facets_of(e), *trace_);
        menu.addAction(tr("Show the call"), this, [this, id = e.id.value] { Q_EMIT event_asked(id); });
    });
    auto* const beside = new QSplitter(Qt::Horizontal, this);
    beside->addWidget(text_);
    beside->addWidget(table_);
    beside->setChildrenCollapsible(false);
    beside->setSizes({4500, 5500});
    auto* const whole = new QSplitter(Qt::Vertical, this);
    whole->addWidget(beside);
    whole->addWidget(story_);
    whole->setChildrenCollapsible(false);
    whole->setObjectName(QStringLiteral("whole"));
    beside->setObjectName(QStringLiteral("beside"));
    whole->setSizes({5500, 4500});
    story_->hide();
    auto* const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(make_head());
    layout->addWidget(whole, 1);
    show_chosen();
}

QWidget* object_page::make_head() {
    typed_->setPlaceholderText(QStringLiteral("0x7f…"));
    typed_->setAccessibleName(tr("Handle or address of the object"));
    typed_->setMaximumWidth(fontMetrics().averageCharWidth() * 24);
    which_->setAccessibleName(tr("Which life of the handle"));
    which_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    which_->setMinimumContentsLength(16);
    connect(typed_, &QLineEdit::returnPressed, this, &object_page::take_typed);
    connect(which_, &QComboBox::currentIndexChanged, this, &object_page::show_chosen);
    connect(only_, &QPushButton::clicked, this, [this] { Q_EMIT filter_asked(object_filter(handle_)); });
    connect(in_timeline_, &QPushButton::clicked, this, [this] {
        auto const* shown = life();
        if (shown == nullptr) return;
        if (shown->created) Q_EMIT event_asked(shown->created.value);
        Q_EMIT page_asked(page_id::timeline);
    });
    auto* const label = new QLabel(tr("O&bject"), this);
    label->setBuddy(typed_);
    auto* const out = new QWidget(this);
    auto* const row = new QHBoxLayout(out);
    row->setContentsMargins(8, 8, 8, 0);
    row->addWidget(label);
    row->addWidget(typed_);
    row->addWidget(which_, 1);
    row->addWidget(count_);
    row->addWidget(only_);
    row->addWidget(in_timeline_);
    return out;
}

QString object_page::title() const {
    return tr("Object");
}

void object_page::show_trace(trace_pointer const& trace) {
    bool const same = trace_ && trace && trace_->path == trace->path;
    trace_ = trace;
    if (!same) handle_ = 0;
    auto const shown = which_->currentIndex();
    fill_lives();
    if (same) which_->setCurrentIndex(shown);
    stale_ = true;
    if (isVisible() || handle_ == 0) show_chosen();  // else when somebody looks: the calls are a scan of the trace
}

void object_page::showEvent(QShowEvent* event) {
    page::showEvent(event);
    if (stale_) show_chosen();
}

void object_page::take_typed() {
    bool is_number = false;
    auto const text = typed_->text().trimmed();
    auto const handle = text.toULongLong(&is_number, text.startsWith(QStringLiteral("0x")) ? 0 : 16);
    if (!is_number || !trace_) return Q_EMIT told(tr("%1 is no handle").arg(text));
    // Of the process that has it; where several do, of the one that is shown.
    auto of = process_;
    if (!of || trace_->objects.of(of, handle).empty())
        for (auto const& process : trace_->processes)
            if (!trace_->objects.of(process.id, handle).empty()) of = process.id;
    if (!of && !trace_->process_rows.empty()) of = trace_->process_rows.front().id;
    Q_EMIT object_asked(of.value, handle);
}

void object_page::show_object(store::process_id process, store::handle handle, store::event_id event) {
    process_ = process;
    handle_ = handle;
    fill_lives();
    for (std::size_t i = 0; event && i < lives_.size(); ++i) {
        bool const over = lives_[i].gone && lives_[i].gone < event;
        if (lives_[i].created <= event && !over) which_->setCurrentIndex(static_cast<int>(i));
    }
    show_chosen();
}

void object_page::fill_lives() {
    lives_ = trace_ && handle_ != 0 ? trace_->objects.of(process_, handle_) : std::vector<object_life>{};
    which_->blockSignals(true);
    which_->clear();
    for (std::size_t i = 0; i < lives_.size(); ++i) which_->addItem(life_text(lives_[i], static_cast<int>(i)));
    which_->setCurrentIndex(static_cast<int>(lives_.size()) - 1);
    which_->blockSignals(false);
    which_->setVisible(lives_.size() > 1);
    typed_->setText(handle_text(handle_));
}

QString object_page::life_text(object_life const& life, int number) const {
    auto out = lives_.size() > 1 ? tr("life %1 of %2: %3").arg(number + 1).arg(lives_.size()).arg(kind_text(life.kind))
                                 : kind_text(life.kind);
    if (life.bytes > 0) out += QStringLiteral(", ") + bytes_text(life.bytes);
    return life.gone ? out : out + tr(", alive at the end");
}

object_life const* object_page::life() const {
    auto const number = static_cast<std::size_t>(std::max(which_->currentIndex(), 0));
    return number < lives_.size() ? &lives_[number] : nullptr;
}

void object_page::show_life(int number) {
    which_->setCurrentIndex(number);
}

void object_page::show_chosen() {
    stale_ = false;
    made_.reset();
    gone_.reset();
    bool const any = trace_ && handle_ != 0;
    only_->setEnabled(any);
    in_timeline_->setEnabled(any && life() != nullptr);
    show_story(life());
    show_texts();
    find_calls_of(any ? life() : nullptr);
    look_up(any ? life() : nullptr);
}

// Stacks are looked up in the background; what is known already is shown at once.
void object_page::look_up(object_life const* life) {
    texts_.cancel();
    if (life == nullptr) return;
    texts_.start([this, from = trace_, shown = *life](std::atomic<bool> const&) -> background::continuation {
        try {
            auto const made = shown.created ? from->call(shown.created) : std::nullopt;
            auto const gone = shown.gone ? from->call(shown.gone) : std::nullopt;
            return [this, made, gone] {
                made_ = made;
                gone_ = gone;
                show_texts();
            };
        } catch (store::error const& e) {
            return [this, problem = QString::fromUtf8(e.what())] { text_->setPlainText(problem); };
        }
    });
}

// Between the call that made it and the one that released it: other lives of the handle are none of its business.
void object_page::find_calls_of(object_life const* life) {
    search_.cancel();
    calls_.show(nullptr);
    count_->clear();
    if (!trace_ || handle_ == 0) return;
    call_query query;
    query.filters.add(object_filter(handle_));
    if (process_) query.filters.add(process_filter(process_, *trace_));
    if (life != nullptr) {
        query.first = life->created;
        query.last = life->gone;
    }
    count_->setText(tr("searching …"));
    search_.start([this, from = trace_, query](std::atomic<bool> const& stopped) -> background::continuation {
        try {
            auto const found = find_calls(*from, query, stopped);
            return [this, from, found] {
                calls_.show(std::make_unique<call_source>(from, found));
                auto const calls = static_cast<std::uint64_t>(calls_.rowCount());
                count_->setText(calls == 1 ? tr("1 call") : tr("%1 calls").arg(count_text(calls)));
            };
        } catch (store::error const& e) {
            return [this, problem = QString::fromUtf8(e.what())] { count_->setText(problem); };
        }
    });
}

// Only payloads have holders; a payload's own address leads to its user object.
void object_page::show_story(object_life const* life) {
    std::optional<std::size_t> found;
    if (trace_ && life != nullptr && life->kind == model::object_kind::user_object)
        found = trace_->stories->find(life->created);
    if (trace_ && life == nullptr && handle_ != 0) {
        auto const& all = trace_->stories->payloads();
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].payload_handle == handle_) found = i;
    }
    story_->setVisible(found.has_value());
    if (found) story_->show_story(trace_->stories->story(*found));
}

QString object_page::findings_html() const {
    QString out;
    for (std::size_t i = 0; i < trace_->findings.size(); ++i) {
        auto const& f = trace_->findings[i];
        bool const named = std::find(f.objects.begin(), f.objects.end(), handle_) != f.objects.end();
        if (f.process == process_ && named)
            out += QStringLiteral("<li><a href=\"finding:%1\">%2</a> (<tt>%3</tt>)</li>")
                       .arg(i)
                       .arg(escaped(f.title), rule_text(f.rule));
    }
    return out.isEmpty()
               ? out
               : heading(tr("Findings that name this handle")) +
                     QStringLiteral("<ul style=\"margin-top:0px;margin-left:14px;-qt-list-indent:0\">%1</ul>").arg(out);
}

void object_page::show_texts() {
    if (!trace_ || handle_ == 0) {
        text_->setHtml(QStringLiteral("<p>%1</p>")
                           .arg(tr("Choose an object anywhere – handles are links – or type its handle above.")));
        return;
    }
    auto const* const shown = life();
    auto const what = shown != nullptr ? kind_text(shown->kind) : tr("address or handle");
    auto out = QStringLiteral("<h3 style=\"margin-bottom:2px\">%1 %2</h3>").arg(what, handle_text(handle_));
    if (shown == nullptr)
        out += QStringLiteral("<p>%1</p>").arg(tr("No recorded call made an object of this handle."));
    else if (shown->bytes > 0)
        out += QStringLiteral("<p style=\"margin-top:0px\">%1</p>").arg(bytes_text(shown->bytes));
    if (made_) out += call_of(tr("Made by"), *made_, palette());
    if (shown != nullptr && !shown->created) out += heading(tr("It was there before what was recorded."));
    if (gone_) out += call_of(how_it_went(shown->cause), *gone_, palette());
    if (shown != nullptr && !shown->gone) out += heading(tr("It was alive at the end."));
    text_->setHtml(out + findings_html());
}

QString object_page::details() const {
    return text_->toPlainText();
}

void object_page::changeEvent(QEvent* event) {
    page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && story_) show_texts();
}

}  // namespace lastref::gui
