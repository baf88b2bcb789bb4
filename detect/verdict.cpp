#include "detect/verdict.h"

#include <algorithm>
#include <csignal>

#include "detect/gpu_vendors.h"

namespace axle::detect {
namespace {

std::string render_signal(int signal) {
  switch (signal) {
    case 0:
      return "it exited the process";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGABRT:
      return "SIGABRT";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    case SIGKILL:
      return "SIGKILL";
    default:
      return "signal " + std::to_string(signal);
  }
}

std::string render_reason(const Failure& failure) {
  return failure.hint.empty() ? failure.message : failure.message + "; " + failure.hint;
}

}  // namespace

void blame(Gpu& gpu, Presence usable, const Failure& failure) {
  gpu.usable = usable;
  gpu.reason_code = failure.code;
  gpu.reason = render_reason(failure);
}

void blame(Driver& driver, Presence usable, const Failure& failure) {
  driver.usable = usable;
  driver.reason_code = failure.code;
  driver.reason = render_reason(failure);
}

void add_problem(VendorFindings& findings, GpuVendor vendor, const Failure& failure) {
  const std::string code = std::string(render_vendor(vendor)) + '.' + failure.code;
  if (std::ranges::find(findings.problems, code, &Problem::code) != findings.problems.end()) return;
  findings.problems.push_back({code, failure.message, failure.hint});
}

void tell_all_masked(VendorFindings& findings, GpuVendor vendor, std::string_view variable) {
  const auto works = [](const Gpu& gpu) { return gpu.usable == Presence::present; };
  const auto shown = [&](const Gpu& gpu) { return works(gpu) && !gpu.masked; };
  if (std::ranges::none_of(findings.gpus, works) || std::ranges::any_of(findings.gpus, shown)) {
    return;
  }
  const std::string name(variable);
  add_problem(findings, vendor,
              {"all-masked",
               "every usable " + std::string(gpu_vendor(vendor).title) +
                   " GPU is hidden from programs by " + name,
               "unset " + name + ", or list in it the GPUs that programs should use"});
}

void note_source(Sources& sources, std::string_view fact, std::string_view value,
                 std::string_view source) {
  if (!value.empty() && !source.empty()) sources[std::string(fact)] = source;
}

void describe_place(Gpu& gpu, const DisplayDevice& device) {
  gpu.pci_address = device.address;
  gpu.pci_id = render_pci_id(device);
  gpu.kernel_driver = device.driver;
  note_source(gpu.sources, "pci_address", gpu.pci_address, "sysfs");
  note_source(gpu.sources, "pci_id", gpu.pci_id, "sysfs");
  note_source(gpu.sources, "kernel_driver", gpu.kernel_driver, "sysfs");
}

std::optional<Failure> judge_end(const DriverAnswer& answer, GpuVendor vendor,
                                 std::string_view step, std::chrono::milliseconds time_limit) {
  const std::string library = "the " + std::string(gpu_vendor(vendor).title) + " driver library";
  const std::string doing = step.empty() ? "" : " in " + std::string(step);
  switch (answer.end) {
    case DriverAnswer::End::finished:
      return std::nullopt;
    case DriverAnswer::End::timed_out:
      return Failure{
          "driver-hangs",
          library + " did not answer within " + std::to_string(time_limit.count()) + " ms" + doing,
          "check the kernel log (dmesg) for a lost GPU, then reset it or reboot"};
    case DriverAnswer::End::crashed:
      return Failure{"driver-crashed",
                     library + " crashed" + doing + " (" + render_signal(answer.signal) + ")",
                     "reinstall the driver, and check that LD_LIBRARY_PATH contains no other one"};
    case DriverAnswer::End::not_started:
      return Failure{"not-started",
                     library + " could not be queried: no child process could be started",
                     "check the limits on processes (ulimit -u) and memory"};
    case DriverAnswer::End::not_recorded:
      return Failure{"not-recorded", "the recording does not contain what " + library + " said",
                     "record the machine again, as a user who may use its devices: `variant detect "
                     "--profile machine.json`"};
  }
  return std::nullopt;
}

std::optional<Failure> judge_kernel_driver(std::string_view bound, std::string_view wanted,
                                           std::string_view hint) {
  if (bound == wanted) return std::nullopt;
  if (bound.empty()) {
    return Failure{"no-kernel-driver", "no kernel driver is bound to the GPU", std::string(hint)};
  }
  std::string what_to_do(hint);
  if (bound == "vfio-pci" || bound == "pci-stub") {
    what_to_do = "it is reserved for a virtual machine: bind it to " + std::string(wanted) +
                 " to use it here";
  }
  return Failure{"other-driver",
                 "the GPU is held by the kernel driver " + std::string(bound) + ", not by " +
                     std::string(wanted),
                 what_to_do};
}

Failure untrusted_library(std::string_view refused) {
  return {"untrusted-library", "a driver library cannot be trusted: " + std::string(refused),
          "change the owner of the file and its folder to root and remove write access for others, "
          "or run as their owner"};
}

Failure not_asked() { return {"not-asked", "the driver's libraries were not queried", ""}; }

Presence usable_after(const Failure& failure) {
  const bool unheard = failure.code == "not-asked" || failure.code == "not-recorded";
  return unheard ? Presence::unknown : Presence::blocked;
}

}  // namespace axle::detect
