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

}  // namespace

RecordedHost::RecordedHost() : ReplayHost(static_cast<const detect::Recording&>(*this)) {
  architecture = detect::Arch::x86_64;
  name = {"Linux", "6.1.0", "x86_64"};
  cpus = 8;
  glibc = "glibc 2.36";
}

// The base that answers points at this object's own recording, never at the other's.
RecordedHost::RecordedHost(const RecordedHost& other) : RecordedHost() { *this = other; }

RecordedHost& RecordedHost::operator=(const RecordedHost& other) {
  Recording::operator=(other);
  refused = other.refused;
  asked = other.asked;
  leaves_read = other.leaves_read;
  return *this;
}

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
  leaves_read.insert({leaf, subleaf});
  return ReplayHost::cpuid(leaf, subleaf);
}

std::optional<std::string> RecordedHost::read_file(const std::string& path, std::size_t limit) {
  if (refused.contains(path)) return std::nullopt;
  return ReplayHost::read_file(path, limit);
}

std::optional<std::string> RecordedHost::file_stamp(const std::string& path) {
  const auto content = files.find(path);
  if (content == files.end()) return ReplayHost::file_stamp(path);
  return std::to_string(content->second.size()) + "-0.0";
}

bool RecordedHost::accessible(const std::string& path, Access access) {
  if (refused.contains(path)) return access == Access::exists;
  // Tests write most nodes as empty files.
  return files.contains(path) || ReplayHost::accessible(path, access);
}

std::vector<DriverAnswer> RecordedHost::ask_drivers(std::span<const GpuVendor> vendors,
                                                    std::chrono::milliseconds time_limit) {
  asked.insert(asked.end(), vendors.begin(), vendors.end());
  return ReplayHost::ask_drivers(vendors, time_limit);
}

}  // namespace axle::testing
