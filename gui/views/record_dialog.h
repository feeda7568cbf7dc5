// What is to be recorded, and how.
#pragma once

#include "gui/loader/lastref_program.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QDialogButtonBox;
class QLabel;
class QLineEdit;

namespace lastref::gui {

class record_dialog : public QDialog {
    Q_OBJECT

  public:
    explicit record_dialog(QWidget* parent = nullptr);

    recording_request request() const;
    void set_command(QString const& command);  // as typed into a shell, without its expansions
    void set_trace(QString const& path);
    void set_folder(QString const& path);
    bool can_record() const;

  private:
    void check();
    void choose_program();
    void choose_trace();
    void choose_folder();
    QString problem() const;  // why nothing can be recorded like that; empty where it can
    QWidget* with_button(QLineEdit* field, QString const& name, void (record_dialog::*choose)());

    QLineEdit* command_;
    QLineEdit* trace_;
    QLineEdit* folder_;
    QComboBox* stacks_;
    QCheckBox* simulated_;
    QCheckBox* audit_;
    QCheckBox* cupti_;
    QLabel* problem_;
    QDialogButtonBox* buttons_;
};

}  // namespace lastref::gui
