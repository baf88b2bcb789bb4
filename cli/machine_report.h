#pragma once
// What is said of one of several machines.

#include <string>
#include <utility>

#include "foundation/report/report.h"

namespace axle::cli {

/// Each message names the machine.
class MachineReport final : public Report {
 public:
  MachineReport(std::string machine, Report& inner) : machine_(std::move(machine)), inner_(inner) {}
  void add(Remark remark) override {
    remark.message = machine_ + ": " + remark.message;
    inner_.add(std::move(remark));
  }
  void progress(std::string_view what, std::uint64_t done, std::uint64_t total) override {
    inner_.progress(what, done, total);
  }

 private:
  std::string machine_;
  Report& inner_;
};

}  // namespace axle::cli
