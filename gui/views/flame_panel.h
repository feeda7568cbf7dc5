// Allocations by call stack: a flame graph and what it is asked for. Made in the background, when it is seen.
#pragma once

#include "gui/loader/background.h"
#include "gui/loader/loaded_trace.h"
#include "gui/models/flame_model.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QStackedWidget;

namespace lastref::gui::widgets {
class flame_graph;
}

namespace lastref::gui {

class table_view;

class flame_panel : public QWidget {
    Q_OBJECT

  public:
    explicit flame_panel(QWidget* parent = nullptr);

    void show_trace(trace_pointer const& trace);
    void show_moment(qint64 at);  // what was live then
    void search(QString const& text);
    QString text() const;  // what is shown
    flame_model const& tree() const { return tree_; }
    void show_tree(bool on);
    bool busy() const { return work_.busy(); }

  Q_SIGNALS:
    void hovered(QString const& text);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QComboBox* add_choice(QString const& name, std::initializer_list<std::pair<QString, int>> choices);
    scenes::flame_question question() const;
    void ask();
    void show_flame(std::shared_ptr<scenes::flame const> const& flame);

    trace_pointer trace_;
    bool stale_ = false;  // what is shown is not what is asked for
    store::time_ns at_ = 0;
    QComboBox* moment_ = nullptr;
    QComboBox* order_ = nullptr;
    QComboBox* side_ = nullptr;
    QComboBox* form_ = nullptr;
    QLabel* words_;
    QStackedWidget* shown_;
    widgets::flame_graph* graph_;
    flame_model tree_;
    table_view* tree_view_;
    QString search_;
    background work_;
};

}  // namespace lastref::gui
