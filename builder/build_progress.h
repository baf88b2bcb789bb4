#pragma once
// How far the rows are that are built at once, in one line; and a report that several threads may
// use.

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "foundation/report/report.h"

namespace axle::builder {

class LockedReport final : public Report {
 public:
  explicit LockedReport(Report& report) : report_(report) {}
  void add(Remark remark) override {
    const std::scoped_lock lock(guard_);
    report_.add(std::move(remark));
  }
  void progress(const Work& work) override {
    const std::scoped_lock lock(guard_);
    report_.progress(work);
  }
  void download(const Download& download) override {
    const std::scoped_lock lock(guard_);
    report_.download(download);
  }

 private:
  std::mutex guard_;
  Report& report_;
};

/// "building v3 12/57, v4 3/57", of so many rows. May be used by several threads.
class BuildProgress {
 public:
  BuildProgress(Report& report, std::size_t rows) : report_(report), rows_(rows) {}
  void begin(const std::string& row) { step(row, {}); }
  void step(const std::string& row, std::string_view how_far) {
    const std::scoped_lock lock(guard_);
    running_[row] = how_far;
    tell();
  }
  void end(const std::string& row) {
    const std::scoped_lock lock(guard_);
    running_.erase(row);
    ++done_;
    tell();
  }

 private:
  void tell() {
    std::string text = "building";
    for (const auto& [row, how_far] : running_) {
      text += (text == "building" ? " " : ", ") + row;
      if (!how_far.empty()) text += " " + how_far;
    }
    report_.progress({text, done_, rows_});
  }

  Report& report_;
  std::size_t rows_;
  std::size_t done_ = 0;
  std::mutex guard_;
  std::map<std::string, std::string, std::less<>> running_;
};

}  // namespace axle::builder
