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
      folder_(new QLineEdit(this)),
      stacks_(new QComboBox(this)),
      simulated_(new QCheckBox(tr("Run on the &simulated driver (no GPU needed)"), this)),
      audit_(new QCheckBox(tr("Let CUPTI count the calls as &well: tells whether any was missed"), this)),
      cupti_(new QCheckBox(tr("Record what the &device did, by CUPTI"), this)),
      problem_(new QLabel(this)),
      buttons_(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this)) {
    setWindowTitle(tr("Record a program"));
    command_->setPlaceholderText(tr("./my-program --its arguments"));
    command_->setText(QSettings().value(QStringLiteral("record/command")).toString());
    folder_->setText(QSettings().value(QStringLiteral("record/folder"), QDir::currentPath()).toString());
    trace_->setText(QDir::current().filePath(QStringLiteral("my.lastref")));
    stacks_->addItem(tr("of what creates, frees or fails"), QStringLiteral("create"));
    stacks_->addItem(tr("of every call"), QStringLiteral("all"));
    stacks_->addItem(tr("none"), QStringLiteral("off"));
    command_->setAccessibleName(tr("Program and arguments"));
    folder_->setAccessibleName(tr("Folder to run in"));
    trace_->setAccessibleName(tr("Trace"));
    stacks_->setAccessibleName(tr("Call stacks"));

    auto* const form = new QFormLayout;
    form->addRow(tr("&Program and arguments"),
                 with_button(command_, tr("Choose a program"), &record_dialog::choose_program));
    form->addRow(tr("Run in &folder"), with_button(folder_, tr("Choose a folder"), &record_dialog::choose_folder));
    form->addRow(tr("&Trace"), with_button(trace_, tr("Choose where the trace goes"), &record_dialog::choose_trace));
    form->addRow(tr("&Call stacks"), stacks_);
    for (auto* const box : {simulated_, audit_, cupti_}) form->addRow(QString(), box);
    problem_->setWordWrap(true);
    buttons_->button(QDialogButtonBox::Ok)->setText(tr("Record"));
    connect(buttons_, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons_, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(command_, &QLineEdit::textChanged, this, &record_dialog::check);
    connect(trace_, &QLineEdit::textChanged, this, &record_dialog::check);
    connect(folder_, &QLineEdit::textChanged, this, &record_dialog::check);
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

QString record_dialog::problem() const {
    if (QProcess::splitCommand(command_->text()).isEmpty()) return tr("Name the program to record.");
    if (!folder_->text().isEmpty() && !QFileInfo(folder_->text()).isDir())
        return tr("The folder to run in is not there.");
    if (trace_->text().isEmpty()) return tr("Name the trace.");
    if (QFileInfo(trace_->text()).isDir()) return tr("The trace would have to replace a folder.");
    if (!QFileInfo(QFileInfo(trace_->text()).absolutePath()).isDir())
        return tr("The folder of the trace is not there.");
    return {};
}

void record_dialog::check() {
    auto const text = problem();
    bool const replaces = text.isEmpty() && QFileInfo::exists(trace_->text());
    problem_->setText(replaces ? tr("The trace is there already and will be replaced.") : text);
    buttons_->button(QDialogButtonBox::Ok)->setEnabled(text.isEmpty());
}

bool record_dialog::can_record() const {
    return problem().isEmpty();
}

void record_dialog::choose_program() {
    auto const path = QFileDialog::getOpenFileName(this, tr("The program"));
    if (!path.isEmpty()) command_->setText(quoted(path));
}

void record_dialog::choose_trace() {
    auto const path = QFileDialog::getSaveFileName(this, tr("The trace"), trace_->text(), tr("Traces (*.lastref)"));
    if (!path.isEmpty()) trace_->setText(path);
}

void record_dialog::choose_folder() {
    auto const path = QFileDialog::getExistingDirectory(this, tr("The folder to run in"), folder_->text());
    if (!path.isEmpty()) folder_->setText(path);
}

void record_dialog::set_folder(QString const& path) {
    folder_->setText(path);
}

void record_dialog::set_command(QString const& command) {
    command_->setText(command);
}

void record_dialog::set_trace(QString const& path) {
    trace_->setText(path);
}

recording_request record_dialog::request() const {
    QSettings().setValue(QStringLiteral("record/command"), command_->text());
    QSettings().setValue(QStringLiteral("record/folder"), folder_->text());
    recording_request out;
    out.command = QProcess::splitCommand(command_->text());
    out.trace = QFileInfo(trace_->text()).absoluteFilePath();
    out.stacks = stacks_->currentData().toString();
    out.folder = folder_->text();
    out.simulated = simulated_->isChecked();
    out.audit = audit_->isChecked();
    out.cupti = cupti_->isChecked();
    out.replace = QFileInfo::exists(out.trace);
    return out;
}

}  // namespace lastref::gui
