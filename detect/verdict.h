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

/// What was found of one vendor.
struct VendorFindings {
  std::optional<Driver> driver;
  std::vector<Gpu> gpus;
  std::vector<Problem> problems;
};

void blame(Gpu& gpu, Presence usable, const Failure& failure);
void blame(Driver& driver, Presence usable, const Failure& failure);

/// Adds the problem "<vendor>.<code>", once.
void add_problem(VendorFindings& findings, GpuVendor vendor, const Failure& failure);

/// Adds "<vendor>.all-masked" where GPUs work and `variable` hides every one of them.
void tell_all_masked(VendorFindings& findings, GpuVendor vendor, std::string_view variable);

/// sources[fact] = source, where the fact is known.
void note_source(Sources& sources, std::string_view fact, std::string_view value,
                 std::string_view source);

/// What the bus tells of a GPU: address, id and kernel driver, with their source.
void describe_place(Gpu& gpu, const DisplayDevice& device);

/// The failure behind a child that did not finish; nullopt when it did. `step` is what it was
/// doing.
[[nodiscard]] std::optional<Failure> judge_end(const DriverAnswer& answer, GpuVendor vendor,
                                               std::string_view step,
                                               std::chrono::milliseconds time_limit);

/// The GPU's kernel driver is missing or another than `wanted`; nullopt when it is `wanted`.
[[nodiscard]] std::optional<Failure> judge_kernel_driver(std::string_view bound,
                                                         std::string_view wanted,
                                                         std::string_view hint);

/// A library was not loaded because others may have written it (detect/drivers/library_trust.h).
[[nodiscard]] Failure untrusted_library(std::string_view refused);

/// The driver was not asked because the caller said so.
[[nodiscard]] Failure not_asked();

/// Unknown where nobody heard the driver (not asked, not recorded), else blocked.
[[nodiscard]] Presence usable_after(const Failure& failure);

}  // namespace axle::detect
