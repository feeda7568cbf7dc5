#include "gui/views/record_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QVBoxLayout>

namespace lastref::gui {
namespace {

QString quoted(QString const& path) {
    return path.contains(QLatin1Char(' ')) ? QLatin1Char('"') + path + QLatin1Char('"') : path;
}

}  // namespace

record_dialog::record_dialog(QWidget* parent)
    : QDialog(parent),
      command_(new QLineEdit(this)),
      trace_(new QLineEdit(this)),
      stacks_(new QComboBox(this)),
      simulated_(new QCheckBox(tr("Run on the &simulated driver (no GPU needed)"), this)),
      problem_(new QLabel(this)),
      buttons_(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this)) {
    setWindowTitle(tr("Record a program"));
    command_->setPlaceholderText(tr("./my-program --its arguments"));
    command_->setText(QSettings().value(QStringLiteral("record/command")).toString());
    trace_->setText(QDir::current().filePath(QStringLiteral("my.lastref")));
    stacks_->addItem(tr("of what creates, frees or fails"), QStringLiteral("create"));
    stacks_->addItem(tr("of every call"), QStringLiteral("all"));
    stacks_->addItem(tr("none"), QStringLiteral("off"));
    command_->setAccessibleName(tr("Program and arguments"));
    trace_->setAccessibleName(tr("Trace"));
    stacks_->setAccessibleName(tr("Call stacks"));

    auto* const form = new QFormLayout;
    form->addRow(tr("&Program and arguments"),
                 with_button(command_, tr("Choose a program"), &record_dialog::choose_program));
    form->addRow(tr("&Trace"), with_button(trace_, tr("Choose where the trace goes"), &record_dialog::choose_trace));
    form->addRow(tr("&Call stacks"), stacks_);
    form->addRow(QString(), simulated_);
    problem_->setWordWrap(true);
    buttons_->button(QDialogButtonBox::Ok)->setText(tr("Record"));
    connect(buttons_, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons_, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(command_, &QLineEdit::textChanged, this, &record_dialog::check);
    connect(trace_, &QLineEdit::textChanged, this, &record_dialog::check);
    auto* const layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addWidget(problem_);
    layout->addWidget(buttons_);
    resize(620, sizeHint().height());
    check();
}

QWidget* record_dialog::with_button(QLineEdit* field, QString const& name, void (record_dialog::*choose)()) {
    auto* const out = new QWidget(this);
    auto* const layout = new QHBoxLayout(out);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* const button = new QPushButton(tr("Choose…"), out);
    button->setAccessibleName(name);
    button->setAutoDefault(false);
    connect(button, &QPushButton::clicked, this, choose);
    layout->addWidget(field, 1);
    layout->addWidget(button);
    out->setFocusProxy(field);
    return out;
}

void record_dialog::check() {
    QString text;
    if (QProcess::splitCommand(command_->text()).isEmpty())
        text = tr("Name the program to record.");
    else if (trace_->text().isEmpty())
        text = tr("Name the trace.");
    else if (!QFileInfo(QFileInfo(trace_->text()).absolutePath()).isDir())
        text = tr("The folder of the trace is not there.");
    else if (QFileInfo::exists(trace_->text()))
        text = tr("The trace is there already and will be replaced.");
    problem_->setText(text);
    bool const possible = text.isEmpty() || QFileInfo::exists(trace_->text());
    buttons_->button(QDialogButtonBox::Ok)->setEnabled(possible && !QProcess::splitCommand(command_->text()).isEmpty());
}

void record_dialog::choose_program() {
    auto const path = QFileDialog::getOpenFileName(this, tr("The program"));
    if (!path.isEmpty()) command_->setText(quoted(path));
}

void record_dialog::choose_trace() {
    auto const path = QFileDialog::getSaveFileName(this, tr("The trace"), trace_->text(), tr("Traces (*.lastref)"));
    if (!path.isEmpty()) trace_->setText(path);
}

void record_dialog::set_command(QString const& command) {
    command_->setText(command);
}

void record_dialog::set_trace(QString const& path) {
    trace_->setText(path);
}

recording_request record_dialog::request() const {
    QSettings().setValue(QStringLiteral("record/command"), command_->text());
    recording_request out;
    out.command = QProcess::splitCommand(command_->text());
    out.trace = QFileInfo(trace_->text()).absoluteFilePath();
    out.stacks = stacks_->currentData().toString();
    out.simulated = simulated_->isChecked();
    out.replace = QFileInfo::exists(out.trace);
    return out;
}

}  // namespace lastref::gui
