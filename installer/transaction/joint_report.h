#pragma once
// What tasks that run at once have to say, for a Report that serves one thread at a time.

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "foundation/report/report.h"

namespace axle::installer {

class JointReport {
 public:
  JointReport(Report& report, std::size_t tasks);
  JointReport(const JointReport&) = delete;
  JointReport& operator=(const JointReport&) = delete;
  ~JointReport();

  /// For one thread at a time. Its remarks are kept; progress is passed on, with the number of
  /// tasks that are done, and downloads as they are.
  [[nodiscard]] Report& of(std::size_t task);
  void count_done();
  /// The remarks of all tasks, in the order of their numbers.
  void pass_on_remarks();

 private:
  class Task;

  void show(Work work);

  Report& report_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::mutex mutex_;  ///< protects the progress of `report_`
  std::size_t done_ = 0;
};

}  // namespace axle::installer
