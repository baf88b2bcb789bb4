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
/// Driver::api_source: the CUDA version follows from the driver's.
constexpr std::string_view driver_table = "driver-table";

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

/// "32.0.15.8129" -> "581.29": Windows' Device Manager puts its own numbers before the last five
/// digits, which are NVIDIA's.
std::optional<std::string> number_in_device_manager(const VersionParts& parts) {
  constexpr unsigned first_of_windows = 20;  // WDDM 2.0
  constexpr unsigned last_of_windows = 49;
  constexpr unsigned four_digits = 10'000;
  if (parts.size() != 4 || parts[0] < first_of_windows || parts[0] > last_of_windows ||
      parts[2] < 10 || parts[3] >= four_digits)
    return std::nullopt;
  const unsigned digits = parts[2] % 10 * four_digits + parts[3];
  return fmt::format("{}.{:02}", digits / 100, digits % 100);
}

std::optional<std::string> nearest_nvidia_driver(std::string_view version,
                                                 std::string_view system) {
  const auto parts = parts_of(version);
  if (const auto number = parts ? number_in_device_manager(*parts) : std::nullopt)
    return fmt::format("{}, which Windows' Device Manager calls {}", *number, version);
  constexpr unsigned first_branch = 71;
  constexpr unsigned branches_ahead = 200;
  constexpr unsigned last_part = 999;
  const unsigned last_branch = detect::cuda_driver_branches.back().branch + branches_ahead;
  // A Jetson's driver has the number of its system, "35.3.1" (NVIDIA, Jetson Linux release notes).
  constexpr unsigned first_jetson_linux = 32;
  constexpr unsigned last_jetson_linux = 39;
  if (parts && parts->size() == 3 && parts->front() >= first_jetson_linux &&
      parts->front() <= last_jetson_linux)
    return std::nullopt;
  const bool possible =
      parts && parts->front() >= first_branch && parts->front() <= last_branch &&
      std::ranges::all_of(*parts, [](unsigned part) { return part <= last_part; });
  if (possible) return std::nullopt;
  std::vector<std::string> known;
  for (const detect::CudaDriverBranch& row : detect::cuda_driver_branches)
    known.emplace_back(system == "Windows" ? row.windows : row.driver);
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
    return bad_value("nvidia", "driver", *version,
                     machine.os.system == "Windows" ? "driver=581.29" : "driver=570.26");
  }
  if (cuda != nullptr && (!is_version(*cuda, 2) || cuda->find('.') == std::string::npos)) {
    return bad_value("nvidia", "cuda", *cuda, "cuda=12.8");
  }
  if (auto ok = check_driver(machine, GpuVendor::nvidia, version, "cuda", cuda); !ok) return ok;
  if (auto added = add_gpu(machine, GpuVendor::nvidia, *facts, arch); !added) return added;
  if (version == nullptr && cuda == nullptr) return {};
  Driver& driver = stated_driver(machine, GpuVendor::nvidia);
  driver.kernel_version = version != nullptr ? *version : detect::first_driver_of_cuda(*cuda);
  driver.api_version = cuda != nullptr ? *cuda : detect::cuda_of_driver(*version);
  if (cuda == nullptr) driver.api_source = driver_table;
  return {};
}

std::optional<std::string> state_sm(std::string_view word) {
  if (!word.starts_with("sm")) return std::nullopt;
  const std::string_view digits = word.substr(word.starts_with("sm_") ? 3 : 2);
  const auto arch = parse_compute_capability(digits);
  if (!arch || nearest_capability(*arch)) return std::nullopt;
  return fmt::format("nvidia:sm={}", digits);
}

bool is_windows(const Machine& machine) { return machine.os.system == "Windows"; }

struct FirstBranch {
  unsigned major;  ///< of the compute capability
  unsigned minor;
  unsigned branch;
};

/// The first driver branch that knows GPUs of a compute capability and of later ones of its
/// generation (CUDA Toolkit release notes, new architectures of 9.0, 10.0, 11.0, 11.1, 11.8, 12.8
/// and 13.0, with the drivers of those toolkits).
constexpr FirstBranch first_branches[] = {{7, 0, 384},  {7, 5, 410},  {8, 0, 450},
                                          {8, 6, 455},  {8, 9, 520},  {9, 0, 520},
                                          {10, 0, 570}, {11, 0, 580}, {12, 0, 570}};

/// Parts of Jetsons up to Orin: their driver is part of the system, with numbers of its own.
constexpr std::string_view with_system_driver[] = {"3.2", "5.3", "6.2", "7.2", "8.7"};

bool has_system_driver(std::string_view arch) {
  return std::ranges::find(with_system_driver, arch) != std::end(with_system_driver);
}

bool is_of_jetson(std::string_view arch) { return has_system_driver(arch) || arch == "11.0"; }

struct LastBranch {
  unsigned major;  ///< of the compute capability
  unsigned branch;
  unsigned next;  ///< the branch after it
  std::string_view driver;
  std::string_view windows;
};

/// The last driver branch that knows GPUs of a generation that is no longer served: Tesla, Fermi,
/// Kepler, and Maxwell, Pascal and Volta (NVIDIA, lists of legacy GPUs and "Unix driver archive";
/// the release notes of branch 580).
constexpr LastBranch last_branches[] = {
    {1, 340, 343, "340.108", "342.01"},    {2, 390, 396, "390.157", "391.35"},
    {3, 470, 495, "470.256.02", "475.14"}, {5, 580, 590, "580.65.06", "580"},
    {6, 580, 590, "580.65.06", "580"},     {7, 580, 590, "580.65.06", "580"}};

/// nullptr: the newest branch serves it.
const LastBranch* last_branch_of(std::string_view arch) {
  const auto capability = parts_of(arch);
  if (!capability || capability->size() != 2 || has_system_driver(arch)) return nullptr;
  const bool turing = (*capability)[0] == 7 && (*capability)[1] > 0;
  const auto* const row = std::ranges::find(last_branches, (*capability)[0], &LastBranch::major);
  return row == std::end(last_branches) || turing ? nullptr : row;
}

DriverMisfit misfit_of(std::string reason, std::string_view nearest) {
  return {std::move(reason), "kernel_version", fmt::format("driver={}", nearest)};
}

/// A driver that cannot run the CUDA version that is stated beside it. On Linux the libraries of a
/// newer driver may run on an older one's kernel module, up to the next major version (NVIDIA, CUDA
/// compatibility, "Forward compatibility"); of a GeForce and on Windows they do not.
std::optional<DriverMisfit> find_newer_cuda(const Machine& machine, const detect::Gpu* gpu,
                                            const Driver& driver) {
  const std::string& version = driver.kernel_version;
  // Where one of the two alone is stated, the other follows from it.
  if (driver.api_source == driver_table ||
      version == detect::first_driver_of_cuda(driver.api_version))
    return std::nullopt;
  const auto runs = parts_of(driver.api_version);
  const std::string_view own = detect::cuda_of_driver(version);
  const auto most = parts_of(own);
  if (!runs || runs->size() != 2 || !most) return std::nullopt;
  const bool own_alone = is_windows(machine) || (gpu != nullptr && gpu->name.contains("GeForce"));
  const bool beyond = own_alone ? *runs > *most : (*runs)[0] > (*most)[0] + 1;
  const std::string_view nearest =
      detect::first_driver_of_cuda(driver.api_version, machine.os.system);
  if (!beyond || nearest.empty()) return std::nullopt;
  return misfit_of(
      fmt::format("driver {} runs CUDA up to {}, and not {}", version, own, driver.api_version),
      nearest);
}

std::optional<DriverMisfit> nvidia_driver_misfit(const Machine& machine, const detect::Gpu* gpu,
                                                 const Driver& driver) {
  const std::string arch = gpu == nullptr ? std::string() : gpu->arch;
  const auto version = parts_of(driver.kernel_version);
  if (!version || has_system_driver(arch)) return std::nullopt;
  if (auto misfit = find_newer_cuda(machine, gpu, driver)) return misfit;
  const auto capability = parts_of(arch);
  if (!capability || capability->size() != 2) return std::nullopt;
  const LastBranch* last = last_branch_of(arch);
  if (last != nullptr && version->front() >= last->next) {
    return misfit_of(
        fmt::format("driver {} knows no GPU of {} any more: branch {} is the last that does",
                    driver.kernel_version, arch, last->branch),
        is_windows(machine) ? last->windows : last->driver);
  }
  unsigned first = 0;
  for (const FirstBranch& row : first_branches) {
    if (row.major == (*capability)[0] && row.minor <= (*capability)[1]) first = row.branch;
  }
  if (version->front() >= first) return std::nullopt;
  for (const detect::CudaDriverBranch& row : detect::cuda_driver_branches) {
    if (row.branch == first)
      return misfit_of(fmt::format("driver {} knows no GPU of {}", driver.kernel_version, arch),
                       is_windows(machine) ? row.windows : row.driver);
  }
  return std::nullopt;
}

/// That of the machine's oldest GPU, if it is before the drivers of the newest backend.
const LastBranch* branch_of_oldest(const Machine& machine) {
  const unsigned newest = parts_of(detect::first_driver_of_cuda(newest_backend))->front();
  const LastBranch* oldest = nullptr;
  for (const detect::Gpu& gpu : machine.gpus) {
    if (gpu.vendor != GpuVendor::nvidia || gpu.usable != detect::Presence::present) continue;
    const LastBranch* last = last_branch_of(gpu.arch);
    if (last == nullptr || last->branch >= newest) continue;
    if (oldest == nullptr || last->branch < oldest->branch) oldest = last;
  }
  return oldest;
}

Driver assumed_driver(const Machine& machine) {
  Driver driver;
  const bool windows = is_windows(machine);
  if (const LastBranch* last = branch_of_oldest(machine); last != nullptr) {
    driver.kernel_version = windows ? last->windows : last->driver;
    driver.api_version = windows ? detect::cuda_of_windows_driver(driver.kernel_version)
                                 : detect::cuda_of_driver(driver.kernel_version);
    return driver;
  }
  driver.api_version = newest_backend;
  driver.kernel_version = detect::first_driver_of_cuda(newest_backend, machine.os.system);
  return driver;
}

/// Drivers are stated before or after the system: what the one says of the CUDA version, or the
/// other way round, is of the system that the machine has at last.
void complete_nvidia(const Machine& machine, Driver& driver) {
  const bool untold = driver.api_version.empty() && driver.api_source.empty() &&
                      driver.usable == detect::Presence::present;
  if (untold && !driver.kernel_version.empty()) {
    driver.api_version = detect::cuda_of_driver(driver.kernel_version);
    driver.api_source = driver_table;
  }
  if (!is_windows(machine)) return;
  if (driver.api_source == driver_table) {
    driver.api_version = detect::cuda_of_windows_driver(driver.kernel_version);
  } else if (driver.kernel_version == detect::first_driver_of_cuda(driver.api_version)) {
    driver.kernel_version = detect::first_windows_driver_of_cuda(driver.api_version);
  }
}

std::string describe_assumption(const Driver& driver) {
  const bool newest = driver.api_version == newest_backend;
  return fmt::format(
      "NVIDIA driver {}{} is assumed, {}; specify another with nvidia:driver=…",
      driver.kernel_version,
      driver.api_version.empty() ? "" : fmt::format(" (CUDA {})", driver.api_version),
      newest ? "the minimum of the newest backend" : "of the last branch for the oldest GPU");
}

}  // namespace

const VendorFacts nvidia_facts = {GpuVendor::nvidia,
                                  add_nvidia,
                                  state_sm,
                                  nearest_capability,
                                  nearest_nvidia_driver,
                                  nearest_cuda,
                                  nvidia_driver_misfit,
                                  is_of_jetson,
                                  /*has_windows_on_arm=*/true,
                                  assumed_driver,
                                  describe_assumption,
                                  complete_nvidia};

}  // namespace axle::machines
