#include "providers/gpu_archs.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "detect/gpu_vendors.h"

namespace axle::providers {

using detect::Gpu;
using detect::GpuVendor;

namespace {

using Numbers = std::array<unsigned, 3>;

std::optional<unsigned> parse_hex(std::string_view text) {
  unsigned number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, 16);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// "gfx90a" -> {9, 0, 10}: the generation is decimal, minor and stepping one hexadecimal digit each
// (LLVM, "User Guide for AMDGPU Backend").
std::optional<std::array<unsigned, 3>> parse_gfx(std::string_view gfx) {
  if (gfx.empty()) return std::nullopt;
  std::array<unsigned, 3> arch{};
  const char* const digits_end = gfx.data() + gfx.size() - 2;
  const auto read = std::from_chars(gfx.data() + 3, digits_end, arch[0]);
  const auto minor = parse_hex(gfx.substr(gfx.size() - 2, 1));
  const auto step = parse_hex(gfx.substr(gfx.size() - 1));
  if (read.ec != std::errc() || read.ptr != digits_end || !minor || !step) return std::nullopt;
  arch[1] = *minor;
  arch[2] = *step;
  return arch;
}

std::optional<std::array<unsigned, 3>> parse_device_ip(std::string_view text) {
  // Widths of the fields: architecture 10 bits, release 8, revision 6 (Level Zero, device IP
  // version).
  constexpr std::array<unsigned, 3> largest = {1023, 255, 63};
  std::array<unsigned, 3> ip{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < ip.size(); ++i) {
    const auto [stop, error] = std::from_chars(at, end, ip[i]);
    if (error != std::errc() || ip[i] > largest[i]) return std::nullopt;
    const bool last = i + 1 == ip.size();
    if (last ? stop != end : stop == end || *stop != '.') return std::nullopt;
    at = last ? stop : stop + 1;
  }
  return ip;
}

std::optional<Numbers> parse_capability(std::string_view arch) {
  constexpr unsigned last_minor = 9;
  const auto capability = parse_major_minor(arch);
  if (!capability || capability->second > last_minor) return std::nullopt;
  return Numbers{capability->first, capability->second, 0};
}

std::optional<Numbers> parse_gfx_name(std::string_view arch) { return parse_gfx(gfx_name(arch)); }

bool never(std::string_view /*arch*/, const Numbers& /*numbers*/) { return false; }

bool is_apu(std::string_view arch, const Numbers& /*numbers*/) {
  // Integrated graphics of processors (LLVM, "User Guide for AMDGPU Backend", table of processors).
  constexpr std::string_view of_processors[] = {
      "gfx902",  "gfx909",  "gfx90c",  "gfx1013", "gfx1033", "gfx1035", "gfx1036",
      "gfx1037", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
  };
  return std::ranges::find(of_processors, gfx_name(arch)) != std::end(of_processors);
}

/// Tiger to Alder Lake, Meteor and Arrow Lake, Lunar Lake, Panther to Nova Lake.
bool is_intel_processor(std::string_view /*arch*/, const Numbers& numbers) {
  const auto [major, release, revision] = numbers;
  if (major == 12) return release < 10 || (release >= 70 && release < 80);
  return (major == 20 && release == 4) || major == 30 || (major == 35 && release == 10);
}

struct ArchRow {
  GpuVendor vendor;
  std::optional<Numbers> (*parse)(std::string_view arch);
  bool (*integrated)(std::string_view arch, const Numbers& numbers);
  std::string_view
      driver_features;  ///< of its namespace: what begins so tells of the driver; or none
  std::string_view axle_features;  ///< of namespace axle: those that begin so tell of its GPUs
};

constexpr ArchRow rows[] = {
    {GpuVendor::nvidia, parse_capability, never, "cuda_version", "cuda_code"},
    {GpuVendor::amd, parse_gfx_name, is_apu, "rocm_version", "gfx_code"},
    {GpuVendor::intel, parse_device_ip, is_intel_processor, "", "intel_platform"},
};
static_assert(std::size(rows) == detect::gpu_vendors().size(), "a row a vendor");

const ArchRow& row_of(GpuVendor vendor) {
  return *std::ranges::find(rows, vendor, &ArchRow::vendor);
}

}  // namespace

std::optional<Numbers> parse_gpu_arch(const Gpu& gpu) { return row_of(gpu.vendor).parse(gpu.arch); }

std::string gfx_name(std::string_view arch) {
  const std::string_view base = arch.substr(0, arch.find(':'));
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const bool well_formed = base.size() >= 6 && base.size() <= 10 && base.starts_with("gfx") &&
                           std::ranges::all_of(base.substr(3), is_digit);
  return well_formed ? std::string(base) : std::string();
}

std::optional<std::pair<unsigned, unsigned>> parse_major_minor(std::string_view text) {
  constexpr unsigned largest = 9999;
  std::pair<unsigned, unsigned> version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.second);
  if (minor.ec != std::errc() || (minor.ptr != end && *minor.ptr != '.')) return std::nullopt;
  if (version.first > largest || version.second > largest) return std::nullopt;
  return version;
}

bool is_integrated(const Gpu& gpu) {
  if (gpu.integrated) return true;
  const auto numbers = parse_gpu_arch(gpu);
  return numbers && row_of(gpu.vendor).integrated(gpu.arch, *numbers);
}

bool tells_of_gpu(GpuVendor vendor, std::string_view ns, std::string_view feature) {
  const ArchRow& row = row_of(vendor);
  if (ns == detect::gpu_vendor(vendor).word)
    return row.driver_features.empty() || !feature.starts_with(row.driver_features);
  return ns == "axle" && feature.starts_with(row.axle_features);
}

}  // namespace axle::providers
