#include "tests/support/recorded_host.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace axle::testing {

using detect::Access;
using detect::Capability;
using detect::CapabilityRow;
using detect::CpuidLeaf;
using detect::CpuidRegister;
using detect::DriverAnswer;
using detect::GpuVendor;

namespace {

std::uint32_t& register_of(CpuidLeaf& leaf, CpuidRegister reg) {
  switch (reg) {
    case CpuidRegister::eax:
      return leaf.eax;
    case CpuidRegister::ebx:
      return leaf.ebx;
    case CpuidRegister::ecx:
      return leaf.ecx;
    case CpuidRegister::edx:
      break;
  }
  return leaf.edx;
}

template <typename Map>
auto find_value(const Map& map, const typename Map::key_type& key)
    -> std::optional<typename Map::mapped_type> {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return found->second;
}

template <typename Map>
void add_children(const Map& map, const std::string& folder, std::vector<std::string>& names) {
  for (auto at = map.lower_bound(folder); at != map.end(); ++at) {
    const std::string& path = at->first;
    if (!path.starts_with(folder)) break;
    const std::string rest = path.substr(folder.size());
    names.push_back(rest.substr(0, rest.find('/')));
  }
}

}  // namespace

void RecordedHost::give(Capability capability) {
  const CapabilityRow& row = detect::row(capability);
  if (row.arch == detect::Arch::riscv64) {
    hwprobe[row.word] |= std::uint64_t{1} << row.bit;
    return;
  }
  if (row.arch != detect::Arch::x86_64) {
    constexpr std::array<unsigned long, 3> types{16, 26, 29};
    for (const unsigned long type : types) auxiliary_values.try_emplace(type, 0);
    auxiliary_values[types[row.word - 1U]] |= std::uint64_t{1} << row.bit;
    return;
  }
  const std::uint32_t base = row.leaf & 0x80000000U;
  CpuidLeaf& bound = leaves[{base, 0}];
  bound.eax = std::max(bound.eax, row.leaf);
  if (row.subleaf > 0 && row.leaf != 0xD) {
    CpuidLeaf& first = leaves[{row.leaf, 0}];
    first.eax = std::max(first.eax, row.subleaf);
  }
  CpuidLeaf& leaf = leaves[{row.leaf, row.subleaf}];
  if (row.leaf == 0x24) {
    const bool version = row.bit < 8;
    leaf.ebx |= version ? 0 : 1U << row.bit;
    if (version) leaf.ebx = (leaf.ebx & ~0xFFU) | std::max(leaf.ebx & 0xFFU, 0U + row.bit);
    leaves[{7, 0}].eax = std::max<std::uint32_t>(leaves[{7, 0}].eax, 1);
    leaves[{7, 1}].edx |= 1U << 19U;
    return;
  }
  register_of(leaf, row.reg) |= 1U << row.bit;
}

void RecordedHost::give_level(unsigned level) {
  for (unsigned each = 1; each <= level; ++each) {
    for (const Capability capability : detect::x86_64_level(each)) give(capability);
  }
}

void RecordedHost::take(Capability capability) {
  const CapabilityRow& row = detect::row(capability);
  register_of(leaves[{row.leaf, row.subleaf}], row.reg) &= ~(1U << row.bit);
}

void RecordedHost::plug(const std::string& address, std::uint32_t vendor, std::uint32_t device,
                        const std::string& driver) {
  const std::string folder = "/sys/bus/pci/devices/" + address;
  std::array<char, 80> alias;
  std::snprintf(alias.data(), alias.size(), "pci:v%08Xd%08Xsv00000000sd00000000bc03sc00i00\n",
                vendor, device);
  files[folder + "/modalias"] = alias.data();
  if (!driver.empty()) links[folder + "/driver"] = "../../../../bus/pci/drivers/" + driver;
}

void RecordedHost::say(GpuVendor vendor, const std::string& lines) {
  say(vendor, DriverAnswer::End::finished, lines);
}

void RecordedHost::say(GpuVendor vendor, DriverAnswer::End end, const std::string& lines,
                       int signal) {
  answers[vendor] = {end, signal, lines};
}

std::optional<CpuidLeaf> RecordedHost::cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  if (architecture != detect::Arch::x86_64) return std::nullopt;
  leaves_read.insert({leaf, subleaf});
  return find_value(current_ != nullptr ? *current_ : leaves, {leaf, subleaf})
      .value_or(CpuidLeaf{});
}

std::optional<std::uint64_t> RecordedHost::xcomp(detect::XcompQuery query) {
  return query == detect::XcompQuery::supported ? xcomp_supported : xcomp_permitted;
}

bool RecordedHost::on_cpu(unsigned cpu, const std::function<void()>& work) {
  const auto found = leaves_of_cpu.find(cpu);
  if (found == leaves_of_cpu.end()) return false;
  current_ = &found->second;
  work();
  current_ = nullptr;
  return true;
}

std::optional<std::uint64_t> RecordedHost::auxiliary(unsigned long type) {
  return find_value(auxiliary_values, type);
}

std::optional<std::uint64_t> RecordedHost::riscv_hwprobe(std::int64_t key) {
  return find_value(hwprobe, key);
}

std::string RecordedHost::program_output(const std::string& program) {
  return find_value(programs, program).value_or("");
}

std::optional<std::string> RecordedHost::read_file(const std::string& path, std::size_t limit) {
  if (refused.contains(path)) return std::nullopt;
  auto content = find_value(files, path);
  if (content && content->size() > limit) content->resize(limit);
  return content;
}

std::vector<std::string> RecordedHost::list_folder(const std::string& path) {
  const std::string folder = path.ends_with('/') ? path : path + '/';
  std::vector<std::string> names;
  add_children(files, folder, names);
  add_children(links, folder, names);
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

std::optional<std::string> RecordedHost::read_link(const std::string& path) {
  return find_value(links, path);
}

std::optional<std::string> RecordedHost::file_stamp(const std::string& path) {
  const auto content = find_value(files, path);
  if (!content) return std::nullopt;
  return std::to_string(content->size()) + "-0.0";
}

bool RecordedHost::accessible(const std::string& path, Access access) {
  if (refused.contains(path)) return access == Access::exists;
  return files.contains(path) || links.contains(path) || !list_folder(path).empty();
}

std::optional<std::string> RecordedHost::environment(const std::string& variable) {
  return find_value(variables, variable);
}

std::vector<DriverAnswer> RecordedHost::ask_drivers(std::span<const GpuVendor> vendors,
                                                    std::chrono::milliseconds) {
  std::vector<DriverAnswer> result;
  for (const GpuVendor vendor : vendors) {
    asked.push_back(vendor);
    result.push_back(find_value(answers, vendor).value_or(DriverAnswer{}));
  }
  return result;
}

}  // namespace axle::testing
