#pragma once
// Which CUDA version each NVIDIA driver branch runs (CUDA Toolkit release notes, "CUDA Toolkit and
// Corresponding Driver Versions"). For machines that cannot be queried: the driver's own answer is
// better.

#include <array>
#include <charconv>
#include <string_view>

namespace axle::detect {

struct CudaDriverBranch {
  unsigned branch;          ///< first part of the driver version: 570
  std::string_view cuda;    ///< highest CUDA version, "12.8"
  std::string_view driver;  ///< first release of the branch on Linux: "570.26"
};

/// Oldest first.
inline constexpr std::array<CudaDriverBranch, 28> cuda_driver_branches{{
    {384, "9.0", "384.81"},     {390, "9.1", "390.46"},     {396, "9.2", "396.26"},
    {410, "10.0", "410.48"},    {418, "10.1", "418.39"},    {440, "10.2", "440.33"},
    {450, "11.0", "450.36.06"}, {455, "11.1", "455.23"},    {460, "11.2", "460.27.03"},
    {465, "11.3", "465.19.01"}, {470, "11.4", "470.42.01"}, {495, "11.5", "495.29.05"},
    {510, "11.6", "510.39.01"}, {515, "11.7", "515.43.04"}, {520, "11.8", "520.61.05"},
    {525, "12.0", "525.60.13"}, {530, "12.1", "530.30.02"}, {535, "12.2", "535.54.03"},
    {545, "12.3", "545.23.06"}, {550, "12.4", "550.54.14"}, {555, "12.5", "555.42.02"},
    {560, "12.6", "560.28.03"}, {565, "12.7", "565.57.01"}, {570, "12.8", "570.26"},
    {575, "12.9", "575.51.03"}, {580, "13.0", "580.65.06"}, {590, "13.1", "590.44.01"},
    {595, "13.2", "595.71.05"},
}};

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

/// The first driver of the branch that runs `cuda`, "12.6" -> "560.28.03"; empty if none is known.
[[nodiscard]] inline std::string_view first_driver_of_cuda(std::string_view cuda) {
  for (const CudaDriverBranch& row : cuda_driver_branches) {
    if (row.cuda == cuda) return row.driver;
  }
  return {};
}

}  // namespace axle::detect
