#pragma once
// Which CUDA version each NVIDIA driver branch runs (CUDA Toolkit release notes, "CUDA Toolkit and
// Corresponding Driver Versions"), on Linux and on Windows. For machines that cannot be queried:
// the driver's own answer is better.

#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace axle::detect {

struct CudaDriverBranch {
  unsigned branch;          ///< first part of the driver version: 570
  std::string_view cuda;    ///< highest CUDA version, "12.8"
  std::string_view driver;  ///< first release of the branch on Linux: "570.26"
  /// For Windows that of the toolkit, "570.65"; where no toolkit came with one, the branch.
  std::string_view windows;
};

/// Oldest first.
inline constexpr std::array<CudaDriverBranch, 28> cuda_driver_branches{{
    {384, "9.0", "384.81", "385.54"},     {390, "9.1", "390.46", "391.29"},
    {396, "9.2", "396.26", "398.26"},     {410, "10.0", "410.48", "411.31"},
    {418, "10.1", "418.39", "418.96"},    {440, "10.2", "440.33", "441.22"},
    {450, "11.0", "450.36.06", "451.22"}, {455, "11.1", "455.23", "456.38"},
    {460, "11.2", "460.27.03", "460.82"}, {465, "11.3", "465.19.01", "465.89"},
    {470, "11.4", "470.42.01", "471.11"}, {495, "11.5", "495.29.05", "496.04"},
    {510, "11.6", "510.39.01", "511.23"}, {515, "11.7", "515.43.04", "516.01"},
    {520, "11.8", "520.61.05", "520.06"}, {525, "12.0", "525.60.13", "527.41"},
    {530, "12.1", "530.30.02", "531.14"}, {535, "12.2", "535.54.03", "536.25"},
    {545, "12.3", "545.23.06", "545.84"}, {550, "12.4", "550.54.14", "551.61"},
    {555, "12.5", "555.42.02", "555.85"}, {560, "12.6", "560.28.03", "560.76"},
    {565, "12.7", "565.57.01", "565"},    {570, "12.8", "570.26", "570.65"},
    {575, "12.9", "575.51.03", "576.02"}, {580, "13.0", "580.65.06", "580"},
    {590, "13.1", "590.44.01", "590"},    {595, "13.2", "595.71.05", "595"},
}};

/// Minor-version compatibility: from this driver on programs that any toolkit of the major version
/// compiled run (CUDA Toolkit release notes, table 2 of 11.8 and 12.9; for 13 astral-sh/uv
/// crates/uv-torch/src/backend.rs @ 26a9dd4b, since NVIDIA names no driver for Windows).
struct CudaMajorFloor {
  std::string_view first;  ///< CUDA version of the major, "12.0"
  std::string_view driver;
  std::string_view windows;
};

inline constexpr std::array<CudaMajorFloor, 3> cuda_major_floors{
    {{"11.0", "450.80.02", "452.39"}, {"12.0", "525.60.13", "528.33"}, {"13.0", "580", "580"}}};

/// By numbers: "527.41" before "528.33", "580" before "580.65.06". False unless both are versions.
[[nodiscard]] inline bool is_older_driver(std::string_view one, std::string_view other) {
  while (true) {
    unsigned left = 0;
    unsigned right = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), left);
    const auto [stop, wrong] = std::from_chars(other.data(), other.data() + other.size(), right);
    if (error != std::errc() || wrong != std::errc()) return false;
    if (left != right) return left < right;
    one.remove_prefix(static_cast<std::size_t>(end - one.data()));
    other.remove_prefix(static_cast<std::size_t>(stop - other.data()));
    if (one.empty() || other.empty()) return one.empty() && !other.empty();
    one.remove_prefix(1);
    other.remove_prefix(1);
  }
}

/// The highest CUDA version of a driver, "570.124.06" -> "12.8"; between two branches the older one
/// applies. Empty before the first branch, or if `driver` is not a valid version.
[[nodiscard]] inline std::string_view cuda_of_driver(std::string_view driver) {
  unsigned branch = 0;
  const auto [stop, error] = std::from_chars(driver.data(), driver.data() + driver.size(), branch);
  if (error != std::errc() || (stop != driver.data() + driver.size() && *stop != '.')) return {};
  std::string_view cuda;
  for (const CudaDriverBranch& row : cuda_driver_branches) {
    if (row.branch <= branch) cuda = row.cuda;
  }
  return cuda;
}

/// The same on Windows, whose numbers are of the same branches. A driver before the floor of its
/// major version counts as one of the version before: 527.41, which came with CUDA 12.0, does not
/// run what later toolkits compile, and is one for 11.8.
[[nodiscard]] inline std::string_view cuda_of_windows_driver(std::string_view driver) {
  const std::string_view cuda = cuda_of_driver(driver);
  for (const CudaMajorFloor& floor : cuda_major_floors) {
    if (floor.first != cuda || !is_older_driver(driver, floor.windows)) continue;
    std::string_view before;
    for (const CudaDriverBranch& row : cuda_driver_branches) {
      if (row.cuda == cuda) return before;
      before = row.cuda;
    }
  }
  return cuda;
}

/// The first driver of the branch that runs `cuda`, "12.6" -> "560.28.03"; empty if none is known.
[[nodiscard]] inline std::string_view first_driver_of_cuda(std::string_view cuda) {
  for (const CudaDriverBranch& row : cuda_driver_branches) {
    if (row.cuda == cuda) return row.driver;
  }
  return {};
}

/// That of Windows from which on `cuda` counts: "12.6" -> "560.76", "12.0" -> "528.33".
[[nodiscard]] inline std::string_view first_windows_driver_of_cuda(std::string_view cuda) {
  for (const CudaMajorFloor& floor : cuda_major_floors) {
    if (floor.first == cuda) return floor.windows;
  }
  for (const CudaDriverBranch& row : cuda_driver_branches) {
    if (row.cuda == cuda) return row.windows;
  }
  return {};
}

/// That of a system, as Os::system.
[[nodiscard]] inline std::string_view first_driver_of_cuda(std::string_view cuda,
                                                           std::string_view system) {
  return system == "Windows" ? first_windows_driver_of_cuda(cuda) : first_driver_of_cuda(cuda);
}

}  // namespace axle::detect
