#include "machines/possible_facts.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "detect/cpu/darwin.h"
#include "machines/vendor_facts.h"

namespace axle::machines {

using detect::GpuVendor;

std::optional<std::string> nearest_arch(GpuVendor vendor, std::string_view arch) {
  return facts_of(vendor).nearest_arch(arch);
}

std::optional<std::string> nearest_driver(GpuVendor vendor, std::string_view version) {
  return facts_of(vendor).nearest_driver(version);
}

std::optional<std::string> nearest_api(GpuVendor vendor, std::string_view version) {
  return facts_of(vendor).nearest_api(version);
}

std::optional<std::string> nearest_libc(std::string_view family, unsigned major, unsigned minor) {
  constexpr unsigned last_minor = 99;
  if (family == "glibc" && (major != 2 || minor > last_minor)) return "2.28, 2.36";
  if (family == "musl" && (major != 1 || minor > last_minor)) return "1.2";
  return std::nullopt;
}

std::optional<std::string> nearest_macos(detect::MacosVersion version) {
  constexpr unsigned first_of_ten = 4;
  constexpr unsigned last_of_ten = 15;
  constexpr unsigned last_in_a_row = 15;
  constexpr unsigned named_by_year = 26;
  constexpr unsigned newest_major = 60;
  constexpr unsigned last_minor = 99;
  const auto [major, minor] = version;
  if (major == 10) {
    if (minor >= first_of_ten && minor <= last_of_ten) return std::nullopt;
    return minor < first_of_ten ? "10.4" : "10.15, 11";
  }
  if (major < 10) return "10.4";
  if (major > last_in_a_row && major < named_by_year) return "15, 26";
  if (major > newest_major || minor > last_minor) return "15, 26";
  return std::nullopt;
}

namespace {

using Found = std::optional<Contradiction>;

constexpr std::string_view windows = "Windows";

bool is_x86_or_arm(const detect::Cpu& cpu) {
  return cpu.arch == detect::Arch::x86_64 || cpu.arch == detect::Arch::aarch64;
}

Found find_in_cpu(const detect::Cpu& cpu) {
  if (cpu.arch == detect::Arch::other) return std::nullopt;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch != cpu.arch && cpu.capabilities.has(row.id))
      return Contradiction{
          fmt::format("cpu.capabilities.{}", row.name),
          fmt::format("{} is of {}, and the CPU is {}", row.name, detect::render_arch(row.arch),
                      detect::render_arch(cpu.arch))};
  }
  return std::nullopt;
}

/// The drivers of all three vendors are of Linux and Windows.
Found find_in_mac(const detect::Machine& machine) {
  const detect::Cpu& cpu = machine.cpu;
  const auto version = detect::macos_version(machine.os);
  constexpr detect::MacosVersion first_on_arm{11, 0};
  if (cpu.arch == detect::Arch::aarch64 && version && *version < first_on_arm)
    return Contradiction{"os.name",
                         fmt::format("{} runs on x86_64 alone: Macs with Apple's processors "
                                     "began with macOS 11",
                                     machine.os.name)};
  const auto no_driver = [](std::string path, detect::GpuVendor vendor) {
    return Contradiction{std::move(path), fmt::format("macOS has no driver of {} for computing",
                                                      detect::render_vendor(vendor))};
  };
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    if (machine.gpus[i].usable == detect::Presence::present)
      return no_driver(fmt::format("gpus[{}].usable", i), machine.gpus[i].vendor);
  }
  for (const detect::Driver& driver : machine.drivers) {
    if (driver.usable == detect::Presence::present)
      return no_driver(fmt::format("drivers.{}.usable", detect::render_vendor(driver.vendor)),
                       driver.vendor);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Contradiction> find_contradiction(const detect::Machine& machine) {
  if (auto found = find_in_cpu(machine.cpu)) return found;
  const detect::Os& os = machine.os;
  const bool mac = os.system == detect::darwin;
  if (!mac && os.system != windows) return std::nullopt;
  const std::string_view title = mac ? "macOS" : windows;
  if (!machine.libc.family.empty())
    return Contradiction{"libc.family", fmt::format("{} has no {}", title, machine.libc.family)};
  const detect::Cpu& cpu = machine.cpu;
  const bool stated = cpu.arch != detect::Arch::other || !cpu.machine.empty();
  const bool windows_32 = !mac && cpu.machine == "i686";
  if (stated && !is_x86_or_arm(cpu) && !windows_32) {
    const std::string_view arch =
        cpu.arch == detect::Arch::other ? cpu.machine : detect::render_arch(cpu.arch);
    return Contradiction{"cpu.arch", fmt::format("there is no {} for {}", title, arch)};
  }
  if (os.wsl) return Contradiction{"os.wsl", fmt::format("WSL is a Linux, and not {}", title)};
  if (!os.tegra_release.empty())
    return Contradiction{"os.tegra_release", fmt::format("a Jetson does not run {}", title)};
  return mac ? find_in_mac(machine) : std::nullopt;
}

std::optional<VersionParts> parts_of(std::string_view text) {
  VersionParts parts;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (part.empty() || error != std::errc() || stop != part.data() + part.size())
      return std::nullopt;
    parts.push_back(number);
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

std::string nearest_numbers(const VersionParts& parts, std::vector<std::string> known) {
  constexpr std::size_t most = 3;
  constexpr double step = 1000;
  const auto number = [](const VersionParts& of) {
    return of[0] + (of.size() > 1 ? static_cast<double>(of[1]) / step : 0.0);
  };
  const double wanted = number(parts);
  const auto distance = [&](const std::string& text) {
    const double off = number(*parts_of(text)) - wanted;
    return std::pair(off < 0 ? -off : off, text);
  };
  std::ranges::sort(known, {}, distance);
  if (known.size() > most) known.resize(most);
  return fmt::format("{}", fmt::join(known, ", "));
}

}  // namespace axle::machines
