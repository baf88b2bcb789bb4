#include "installer/transaction/joint_report.h"

#include <utility>

#include <fmt/format.h>

namespace axle::installer {

class JointReport::Task final : public Report {
 public:
  explicit Task(JointReport& joint) : joint_(joint) {}

  void add(Remark remark) override { remarks.push_back(std::move(remark)); }
  void progress(const Work& work) override { joint_.show(work); }
  void download(const Download& download) override {
    const std::lock_guard lock(joint_.mutex_);
    joint_.report_.download(download);
  }

  std::vector<Remark> remarks;

 private:
  JointReport& joint_;
};

JointReport::JointReport(Report& report, std::size_t tasks) : report_(report) {
  tasks_.reserve(tasks);
  for (std::size_t i = 0; i < tasks; ++i) tasks_.push_back(std::make_unique<Task>(*this));
}

JointReport::~JointReport() = default;

Report& JointReport::of(std::size_t task) { return *tasks_[task]; }

void JointReport::count_done() {
  const std::lock_guard lock(mutex_);
  ++done_;
}

void JointReport::show(Work work) {
  const std::lock_guard lock(mutex_);
  if (tasks_.size() == 1) return report_.progress(work);
  const std::string what = fmt::format("[{}/{}] {}", done_ + 1, tasks_.size(), work.what);
  work.what = what;
  report_.progress(work);
}

void JointReport::pass_on_remarks() {
  for (const std::unique_ptr<Task>& task : tasks_)
    for (Remark& remark : std::exchange(task->remarks, {})) report_.add(std::move(remark));
}

}  // namespace axle::installer
