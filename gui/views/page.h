// A page of the window. Pages show what models say and tell what the user asks for; they know nothing of each other.
#pragma once

#include "gui/models/overview.h"

#include <QWidget>

class QAbstractItemModel;
class QMenu;

namespace lastref::gui {

class page : public QWidget {
    Q_OBJECT

  public:
    using QWidget::QWidget;

    virtual page_id id() const = 0;
    virtual QString title() const = 0;

    // Shows a trace, or what became of the same one: what is chosen stays chosen where it is still there.
    virtual void show_trace(trace_pointer const& trace) = 0;
    virtual void set_filters(filter_stack const&) {}
    virtual void set_search(QString const&) {}

    // The table of the page, for export; null where there is none.
    virtual QAbstractItemModel const* exported() const { return nullptr; }
    virtual int rows() const;  // of that table

    // What of the page makes a picture; the page as it is where that is all of it.
    virtual QWidget& picture() { return *this; }

    virtual void choose_finding(std::size_t) {}
    virtual void choose_event(store::event_id) {}

  protected:
    // What a menu offers for a row: filters, and the pages of objects that it names.
    void add_offers(QMenu& menu, facets const& row, loaded_trace const& trace);

  Q_SIGNALS:
    void page_asked(lastref::gui::page_id page);
    void finding_asked(std::size_t finding);
    void event_asked(qint64 event);
    void object_asked(qint64 process, quint64 handle);
    void filter_asked(lastref::gui::filter const& wanted);
    void told(QString const& text);  // for the status bar
};

}  // namespace lastref::gui
