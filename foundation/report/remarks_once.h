#pragma once
// What is said of several things in the same words is said once.

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "foundation/report/report.h"

namespace axle {

class RemarksOnce final : public Report {
 public:
  explicit RemarksOnce(Report& inner) : inner_(inner) {}
  void add(Remark remark) override {
    if (said_.insert(remark.message).second) inner_.add(std::move(remark));
  }
  void progress(const Work& work) override { inner_.progress(work); }
  void download(const Download& download) override { inner_.download(download); }

 private:
  Report& inner_;
  std::set<std::string, std::less<>> said_;
};

}  // namespace axle
