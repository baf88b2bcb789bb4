// The values that are known of each fact, and those that stand for all others.

#include <algorithm>
#include <map>
#include <utility>

#include "detect/cpu/aarch64_versions.h"
#include "detect/nvidia/cuda_drivers.h"
#include "foundation/text/ascii.h"
#include "providers/gpu_archs.h"
#include "providers/nvidia_state.h"
#include "providers/provider.h"
#include "resolver/predicate/machine_facts.h"

namespace axle::resolver {
namespace {

std::string rendered(std::pair<unsigned, unsigned> version) {
  return providers::render_version(version);
}

void add_each(std::vector<std::string>& values, std::string_view family, unsigned major,
              unsigned first, unsigned last) {
  for (unsigned minor = first; minor <= last; ++minor)
    values.push_back(std::string(family) + " " + rendered({major, minor}));
}

/// The values of `feature` that the provider of `ns` knows.
std::vector<std::string> values_known_to(std::string_view ns, std::string_view name) {
  for (providers::Feature& feature : providers::find_provider(ns)->all()) {
    if (feature.name == name) return std::move(feature.values);
  }
  return {};
}

std::vector<std::string> known_capabilities() {
  std::vector<std::string> values;
  constexpr std::string_view real = "_real";
  for (const std::string& code : values_known_to("axle", "cuda_code")) {
    if (!code.ends_with(real)) continue;
    const std::string number = code.substr(0, code.size() - real.size());
    if (std::ranges::all_of(number, text::is_ascii_digit)) values.push_back(number);
  }
  std::ranges::sort(values, is_older);
  return values;
}

std::vector<std::string> known_gfx() {
  std::vector<std::string> values = values_known_to("amd", "gfx_arch");
  for (std::string& code : values_known_to("axle", "gfx_code")) {
    if (!code.ends_with("generic") && std::ranges::find(values, code) == values.end())
      values.push_back(std::move(code));
  }
  std::ranges::sort(values, {}, [](const std::string& gfx) { return std::pair(gfx.size(), gfx); });
  return values;
}

/// Bounds and exact versions: between two of them nothing changes but at those that a property
/// names, which whoever asks adds.
std::vector<std::string> known_rocm() {
  std::vector<std::string> values = values_known_to("amd", "rocm_version");
  for (unsigned minor = 0; minor <= 7; ++minor) values.push_back(rendered({5, minor}));
  // The next minor version of each stands for releases that nobody knows of.
  std::map<unsigned, unsigned> newest;
  for (const std::string& value : values) {
    const auto version = providers::parse_major_minor(value);
    if (version) newest[version->first] = std::max(newest[version->first], version->second);
  }
  for (const auto& [major, minor] : newest) values.push_back(rendered({major, minor + 1}));
  std::ranges::sort(values, is_older);
  return values;
}

std::vector<std::string> known_cuda() {
  std::vector<std::string> values;
  constexpr unsigned first = 11;
  for (const detect::CudaDriverBranch& row : detect::cuda_driver_branches) {
    const auto version = providers::parse_major_minor(row.cuda);
    if (version && version->first >= first) values.emplace_back(row.cuda);
  }
  return values;
}

std::vector<std::string> known_libcs() {
  std::vector<std::string> values;
  // Tags count up to 255, but no release that anybody builds for is beyond these.
  constexpr unsigned newest_glibc = 60;
  constexpr unsigned newest_musl = 12;
  add_each(values, "glibc", 2, 0, newest_glibc);
  add_each(values, "musl", 1, 0, newest_musl);
  return values;
}

/// After 15 came 26; tags are made for a major version alone.
std::vector<std::string> known_macos() {
  std::vector<std::string> values;
  constexpr unsigned oldest_of_ten = 4;
  constexpr unsigned newest_of_ten = 15;
  constexpr unsigned newest = 40;
  for (unsigned minor = oldest_of_ten; minor <= newest_of_ten; ++minor)
    values.push_back(rendered({10, minor}));
  for (unsigned major = 11; major <= newest; ++major) {
    if (major <= 15 || major >= 26) values.push_back(rendered({major, 0}));
  }
  return values;
}

/// Those by which providers tell of MPS.
std::vector<std::string> known_mps() {
  std::vector<std::string> values = known_macos();
  std::erase_if(values, [](const std::string& one) { return is_older(one, "12.3"); });
  values.emplace_back("12.3");
  std::ranges::sort(values, is_older);
  return values;
}

std::vector<std::string> known_versions_of_arm() {
  std::vector<std::string> values;
  for (const detect::Aarch64Version& version : detect::aarch64_versions)
    values.emplace_back(version.name);
  return values;
}

using ValueTable = std::map<std::string, std::vector<std::string>, std::less<>>;

ValueTable make_known_values() {
  ValueTable table;
  table["system"] = {"linux", "darwin", "windows"};
  table["arch"] = {"x86_64", "aarch64", "ppc64le", "riscv64", "s390x"};
  table["libc"] = known_libcs();
  table["macos"] = known_macos();
  table["mps"] = known_mps();
  table["x86_64"] = {"v1", "v2", "v3", "v4"};
  table["aarch64"] = known_versions_of_arm();
  table["cpu"] = {"has"};
  table["property"] = {"has"};
  table["sve_bytes"] = table["sme_bytes"] = {"16", "32", "64", "128", "256"};
  table["driver"] = known_cuda();
  table["sm"] = known_capabilities();
  table["arm_platform"] = {"sbsa", "tegra", "tegra+sbsa"};
  table["rocm"] = known_rocm();
  table["gfx"] = known_gfx();
  table["device"] = values_known_to("intel", "device_ip");
  table["npu"] = values_known_to("ascend", "npu_type");
  table["tpu"] = {"false", "true"};
  return table;
}

ValueTable make_unforeseen_values() {
  ValueTable table;
  // A capability that nobody knows runs what its major version runs.
  table["sm"] = {"unknown"};
  constexpr unsigned newest_major = 14;
  for (unsigned major = 2; major <= newest_major; ++major)
    table["sm"].push_back(std::to_string(major) + "9");
  std::erase_if(table["sm"], [](const std::string& one) {
    return std::ranges::find(known_values("sm"), one) != known_values("sm").end();
  });
  table["gfx"] = {"unknown", "gfxffff"};
  table["device"] = {"unknown", "99.0.0"};
  table["npu"] = {"unforeseen"};
  table["npu_driver"] = {"99.99"};
  table["cann"] = {"99.99"};
  table["arch"] = {"other"};
  return table;
}

const std::vector<std::string>& values_in(const ValueTable& table, std::string_view fact) {
  static const std::vector<std::string> none;
  const FactRow* row = find_fact_row(fact);
  const auto found = row == nullptr ? table.end() : table.find(row->name);
  return found == table.end() ? none : found->second;
}

}  // namespace

const std::vector<std::string>& known_values(std::string_view fact) {
  static const ValueTable table = make_known_values();
  return values_in(table, fact);
}

const std::vector<std::string>& unforeseen_values(std::string_view fact) {
  static const ValueTable table = make_unforeseen_values();
  return values_in(table, fact);
}

}  // namespace axle::resolver
