// A finding about order: its lanes, and beside them what happened, why it matters and the smallest fix.
#pragma once

#include "gui/widgets/hazard_lanes.h"

class QLabel;
class QScrollArea;

namespace lastref::gui::widgets {

class hazard_view : public QWidget {
    Q_OBJECT

  public:
    explicit hazard_view(QWidget* parent = nullptr);

    void set_scene(std::shared_ptr<scenes::hazard const> scene);
    hazard_lanes& lanes() { return *lanes_; }
    QString explanation() const;  // plain text

  Q_SIGNALS:
    void call_chosen(qint64 event);

  private:
    void show_missing();

    hazard_lanes* lanes_;
    QScrollArea* scroll_;
    QLabel* words_;
    std::shared_ptr<scenes::hazard const> scene_;
};

}  // namespace lastref::gui::widgets
