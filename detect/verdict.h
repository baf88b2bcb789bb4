#pragma once
// Why a GPU cannot be used: one stable word, what is wrong, what to do.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/host.h"
#include "detect/machine.h"
#include "detect/pci_bus.h"

namespace axle::detect {

struct Failure {
  std::string code;     ///< stable word: "no-device-nodes"
  std::string message;  ///< what is wrong
  std::string hint;     ///< what to do
};

/// The findings for one vendor.
struct VendorFindings {
  std::optional<Driver> driver;
  std::vector<Gpu> gpus;
  std::vector<Problem> problems;
};

void blame(Gpu& gpu, Presence usable, const Failure& failure);
void blame(Driver& driver, Presence usable, const Failure& failure);

/// Adds the problem "<vendor>.<code>", once.
void add_problem(VendorFindings& findings, GpuVendor vendor, const Failure& failure);

/// Adds "<vendor>.all-masked" if GPUs work and `variable` hides all of them.
void tell_all_masked(VendorFindings& findings, GpuVendor vendor, std::string_view variable);

/// sources[fact] = source, if the fact is known.
void note_source(Sources& sources, std::string_view fact, std::string_view value,
                 std::string_view source);

/// What the bus shows of a GPU: address, id and kernel driver, with their source.
void describe_place(Gpu& gpu, const DisplayDevice& device);

/// The failure of a child that did not finish; nullopt if it did. `step` is what it was doing.
[[nodiscard]] std::optional<Failure> judge_end(const DriverAnswer& answer, GpuVendor vendor,
                                               std::string_view step,
                                               std::chrono::milliseconds time_limit);

/// The GPU's kernel driver is missing or is not `wanted`; nullopt if it is `wanted`.
[[nodiscard]] std::optional<Failure> judge_kernel_driver(std::string_view bound,
                                                         std::string_view wanted,
                                                         std::string_view hint);

/// A library was not loaded because others may have written it (detect/drivers/library_trust.h).
[[nodiscard]] Failure untrusted_library(std::string_view refused);

/// The driver was not queried because the caller requested that.
[[nodiscard]] Failure not_asked();

/// Unknown if the driver gave no answer (not queried, not recorded), otherwise blocked.
[[nodiscard]] Presence usable_after(const Failure& failure);

}  // namespace axle::detect
