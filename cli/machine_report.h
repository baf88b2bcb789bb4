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
  void progress(const Work& work) override { inner_.progress(work); }

 private:
  std::string machine_;
  Report& inner_;
};

}  // namespace axle::cli
