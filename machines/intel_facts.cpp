#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/text/nearest.h"
#include "machines/fact_words.h"
#include "machines/gpu_models.h"
#include "machines/possible_facts.h"
#include "machines/vendor_facts.h"

namespace axle::machines {

using detect::Driver;
using detect::GpuVendor;
using detect::Machine;

namespace {

// Intel, compute-runtime device_ip: architecture in 10 bits, release in 8, revision in 6. The
// architectures: Gen8, Gen9, Gen11, Xe, Xe2, Xe3; future ones are above.
constexpr unsigned intel_architectures[] = {8, 9, 11, 12, 20, 30};
constexpr unsigned last_intel_architecture = 49;
constexpr unsigned last_intel_release = 255;
constexpr unsigned last_intel_revision = 63;

std::optional<std::string> nearest_device_ip(std::string_view arch) {
  std::vector<std::string> known;
  for (const GpuModel& model : gpu_models()) {
    const std::string ip(model.arch);
    if (model.vendor == GpuVendor::intel && std::ranges::find(known, ip) == known.end())
      known.push_back(ip);
  }
  const auto parts = parts_of(arch);
  if (!parts || parts->size() != 3) return text::nearest_words(arch, known);
  const unsigned newest = intel_architectures[std::size(intel_architectures) - 1];
  const bool is_architecture =
      std::ranges::find(intel_architectures, (*parts)[0]) != std::end(intel_architectures) ||
      ((*parts)[0] > newest && (*parts)[0] <= last_intel_architecture);
  if (is_architecture && (*parts)[1] <= last_intel_release && (*parts)[2] <= last_intel_revision)
    return std::nullopt;
  return nearest_numbers(*parts, std::move(known));
}

std::optional<std::string> any_version(std::string_view /*version*/) { return std::nullopt; }

std::optional<std::string> any_number(std::string_view /*version*/, std::string_view /*system*/) {
  return std::nullopt;
}

Result<void> add_intel(Machine& machine, std::string_view text) {
  const auto facts = parse_pairs("intel", text, {"driver", "gpu", "ip"});
  if (!facts) return std::unexpected(facts.error());
  std::optional<std::string> arch;
  if (const std::string* ip = find_fact(*facts, "ip")) {
    if (!is_version(*ip, 3) || std::ranges::count(*ip, '.') != 2) {
      return bad_value("intel", "ip", *ip, "ip=20.1.0");
    }
    if (const auto nearest = nearest_arch(GpuVendor::intel, *ip))
      return impossible("intel", "ip", *ip, *nearest);
    arch = *ip;
  }
  if (auto added = add_gpu(machine, GpuVendor::intel, *facts, arch); !added) return added;
  if (const std::string* version = find_fact(*facts, "driver")) {
    stated_driver(machine, GpuVendor::intel).kernel_version = *version;
  }
  return {};
}

std::optional<std::string> state_ip(std::string_view word) {
  const bool form = is_version(word, 3) && std::ranges::count(word, '.') == 2;
  if (!form || nearest_device_ip(word)) return std::nullopt;
  return fmt::format("intel:ip={}", word);
}

std::optional<DriverMisfit> any_driver(const Machine& /*machine*/, const detect::Gpu* /*arch*/,
                                       const Driver& /*driver*/) {
  return std::nullopt;
}

Driver assumed_driver(const Machine& /*machine*/) { return {}; }

std::string describe_assumption(const Driver& /*driver*/) {
  return "a working Intel GPU driver is assumed";
}

}  // namespace

const VendorFacts intel_facts = {GpuVendor::intel,
                                 add_intel,
                                 state_ip,
                                 nearest_device_ip,
                                 any_number,
                                 any_version,
                                 any_driver,
                                 nullptr,
                                 /*has_windows_on_arm=*/false,
                                 assumed_driver,
                                 describe_assumption,
                                 nullptr};

}  // namespace axle::machines
