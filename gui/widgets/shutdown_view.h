// How a process ended, as columns: main's last call, exit handlers, after the driver shut down, and what was left. In
// each what was released, what failed and which destructors ran. Where they are too many for the width they go on
// below. Up, Down, Left and Right go from entry to entry, Return chooses one. Made to lie in a scroll area.
#pragma once

#include "gui/scenes/shutdown.h"

#include <QWidget>

#include <memory>
#include <vector>

namespace lastref::gui::widgets {

class shutdown_view : public QWidget {
    Q_OBJECT

  public:
    explicit shutdown_view(QWidget* parent = nullptr);

    void set_scene(std::shared_ptr<scenes::shutdown const> scene, std::size_t process = 0);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    std::size_t entries() const { return entries_.size(); }
    QString described(std::size_t entry) const;
    QRect place_of(std::size_t entry) const;

  Q_SIGNALS:
    void call_chosen(qint64 event);
    void hovered(QString text);

  protected:
    void paintEvent(QPaintEvent*) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent*) override;

  private:
    enum class fate : std::uint8_t { released, failed, destructors, left, intended };
    struct heading_of_column {
        QString title, below;
        int lines = 0;
    };
    struct entry {
        std::size_t column = 0;
        int line = 0;  // lines of text from the top of the column
        fate what = fate::released;
        scenes::shutdown_item const* item = nullptr;
    };
    struct heading {
        std::size_t column = 0;
        int line = 0;
        fate what = fate::released;
        QString words;
    };
    scenes::shutdown_process const* process() const;
    void arrange();
    void add_group(fate what, QString const& title, std::vector<scenes::shutdown_item> const& items, int& line);
    QString words_of(entry const& e) const;
    QString below_of(entry const& e) const;
    QColor colour_of_fate(fate what) const;
    int line_height() const { return fontMetrics().height() + 3; }
    int top() const;
    int title_height() const;
    std::size_t in_a_row() const;
    int lines_of_row(std::size_t row) const;
    int column_top(std::size_t number) const;  // of its title
    int line_top(std::size_t column, int line) const;
    int needed_height() const;
    int least_column_width() const;
    int column_width() const;
    int column_left(std::size_t number) const;
    void draw_head(QPainter& painter) const;
    void draw_columns(QPainter& painter) const;
    void draw_entry(QPainter& painter, std::size_t number) const;
    std::optional<std::size_t> entry_at(QPoint const& at) const;
    void choose(std::size_t number);

    std::shared_ptr<scenes::shutdown const> scene_;
    std::size_t process_ = 0;
    std::vector<heading_of_column> columns_;
    std::vector<entry> entries_;
    std::vector<heading> headings_;
    std::size_t current_ = 0;
};

}  // namespace lastref::gui::widgets
