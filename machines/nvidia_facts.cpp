#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "detect/nvidia/cuda_drivers.h"
#include "foundation/text/nearest.h"
#include "machines/fact_words.h"
#include "machines/possible_facts.h"
#include "machines/vendor_facts.h"

namespace axle::machines {

using detect::Driver;
using detect::GpuVendor;
using detect::Machine;

namespace {

constexpr std::string_view newest_backend = "13.0";

// NVIDIA, CUDA C++ programming guide and legacy CUDA GPUs: every compute capability there was.
constexpr std::string_view capabilities[] = {
    "1.0", "1.1", "1.2", "1.3",  "2.0",  "2.1",  "3.0",  "3.2",  "3.5", "3.7", "5.0",
    "5.2", "5.3", "6.0", "6.1",  "6.2",  "7.0",  "7.2",  "7.5",  "8.0", "8.6", "8.7",
    "8.8", "8.9", "9.0", "10.0", "10.1", "10.3", "11.0", "12.0", "12.1"};
constexpr unsigned first_sold_capability = 10;

std::optional<std::string> nearest_capability(std::string_view arch) {
  if (std::ranges::find(capabilities, arch) != std::end(capabilities)) return std::nullopt;
  std::vector<std::string> known(std::begin(capabilities), std::end(capabilities));
  const auto parts = parts_of(arch);
  if (!parts || parts->size() != 2) return text::nearest_words(arch, known);
  const unsigned newest = parts_of(known.back())->front();
  constexpr unsigned last_minor = 9;
  unsigned last_known = 0;
  for (const std::string& one : known) {
    const VersionParts of_one = *parts_of(one);
    if (of_one[0] == (*parts)[0]) last_known = of_one[1];
  }
  const bool next = (*parts)[0] == newest + 1;
  const bool newer =
      (*parts)[0] >= first_sold_capability && (*parts)[0] <= newest && (*parts)[1] > last_known;
  if ((next || newer) && (*parts)[1] <= last_minor) return std::nullopt;
  return nearest_numbers(*parts, std::move(known));
}

std::optional<std::string> nearest_nvidia_driver(std::string_view version) {
  const auto parts = parts_of(version);
  constexpr unsigned first_branch = 71;
  constexpr unsigned branches_ahead = 200;
  constexpr unsigned last_part = 999;
  const unsigned last_branch = detect::cuda_driver_branches.back().branch + branches_ahead;
  const bool possible =
      parts && parts->front() >= first_branch && parts->front() <= last_branch &&
      std::ranges::all_of(*parts, [](unsigned part) { return part <= last_part; });
  if (possible) return std::nullopt;
  std::vector<std::string> known;
  for (const detect::CudaDriverBranch& row : detect::cuda_driver_branches)
    known.emplace_back(row.driver);
  return parts ? nearest_numbers(*parts, std::move(known)) : text::nearest_words(version, known);
}

std::optional<std::string> nearest_cuda(std::string_view version) {
  const auto parts = parts_of(version);
  if (!parts) return std::nullopt;
  constexpr unsigned majors_ahead = 2;
  constexpr unsigned last_minor = 9;
  const unsigned newest = parts_of(detect::cuda_driver_branches.back().cuda)->front();
  if (parts->front() >= 1 && parts->front() <= newest + majors_ahead &&
      (parts->size() < 2 || (*parts)[1] <= last_minor)) {
    return std::nullopt;
  }
  std::vector<std::string> known;
  for (const detect::CudaDriverBranch& row : detect::cuda_driver_branches)
    known.emplace_back(row.cuda);
  return nearest_numbers(*parts, std::move(known));
}

// "90" and "9.0", "120" and "12.0" -> "9.0", "12.0": the last digit is the minor version.
std::optional<std::string> parse_compute_capability(std::string_view text) {
  std::string digits(text);
  if (const std::size_t dot = text.find('.'); dot != std::string_view::npos) {
    if (dot + 2 != text.size()) return std::nullopt;
    digits.erase(dot, 1);
  }
  if (digits.size() < 2 || digits.size() > 3 || digits[0] == '0' || !is_version(digits, 1)) {
    return std::nullopt;
  }
  return digits.substr(0, digits.size() - 1) + "." + digits.back();
}

Result<void> add_nvidia(Machine& machine, std::string_view text) {
  const auto facts = parse_pairs("nvidia", text, {"cuda", "driver", "gpu", "sm"});
  if (!facts) return std::unexpected(facts.error());
  std::optional<std::string> arch;
  if (const std::string* sm = find_fact(*facts, "sm")) {
    arch = parse_compute_capability(*sm);
    if (!arch) return bad_value("nvidia", "sm", *sm, "sm=90");
    if (const auto nearest = nearest_arch(GpuVendor::nvidia, *arch))
      return impossible("nvidia", "sm", *sm, *nearest);
  }
  const std::string* version = find_fact(*facts, "driver");
  const std::string* cuda = find_fact(*facts, "cuda");
  if (version != nullptr && !is_version(*version, 4)) {
    return bad_value("nvidia", "driver", *version, "driver=570.26");
  }
  if (cuda != nullptr && (!is_version(*cuda, 2) || cuda->find('.') == std::string::npos)) {
    return bad_value("nvidia", "cuda", *cuda, "cuda=12.8");
  }
  if (auto ok = check_driver(GpuVendor::nvidia, version, "cuda", cuda); !ok) return ok;
  if (auto added = add_gpu(machine, GpuVendor::nvidia, *facts, arch); !added) return added;
  if (version == nullptr && cuda == nullptr) return {};
  Driver& driver = stated_driver(machine, GpuVendor::nvidia);
  driver.kernel_version = version != nullptr ? *version : detect::first_driver_of_cuda(*cuda);
  driver.api_version = cuda != nullptr ? *cuda : detect::cuda_of_driver(*version);
  if (cuda == nullptr) driver.api_source = "driver-table";
  return {};
}

std::optional<std::string> state_sm(std::string_view word) {
  if (!word.starts_with("sm")) return std::nullopt;
  const std::string_view digits = word.substr(word.starts_with("sm_") ? 3 : 2);
  const auto arch = parse_compute_capability(digits);
  if (!arch || nearest_capability(*arch)) return std::nullopt;
  return fmt::format("nvidia:sm={}", digits);
}

Driver assumed_driver() {
  Driver driver;
  driver.api_version = newest_backend;
  driver.kernel_version = detect::first_driver_of_cuda(newest_backend);
  return driver;
}

std::string describe_assumption(const Driver& driver) {
  return fmt::format(
      "NVIDIA driver {} (CUDA {}) is assumed, the minimum of the newest backend; specify another "
      "with nvidia:driver=…",
      driver.kernel_version, driver.api_version);
}

}  // namespace

const VendorFacts nvidia_facts = {
    GpuVendor::nvidia,     add_nvidia,   state_sm,       nearest_capability,
    nearest_nvidia_driver, nearest_cuda, assumed_driver, describe_assumption};

}  // namespace axle::machines
