#include "machines/site_profile.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "detect/gpu_vendors.h"
#include "detect/pci_bus.h"
#include "foundation/system/descriptor.h"
#include "foundation/system/shell_command.h"
#include "machines/profile_schema.h"

namespace axle::machines {

using detect::Access;
using detect::CpuidLeaf;
using detect::Host;

namespace {

// --- the traits ----------------------------------------------------------------------------------

void add_x86(Host& host, MachineTraits& traits) {
  const CpuidLeaf zero = host.cpuid(0, 0).value_or(CpuidLeaf{});
  const CpuidLeaf one = host.cpuid(1, 0).value_or(CpuidLeaf{});
  traits["the CPU"] =
      fmt::format("{:08x}{:08x}{:08x} {:08x}", zero.ebx, zero.edx, zero.ecx, one.eax);
  std::string features = fmt::format("{:08x} {:08x}", one.ecx, one.edx);
  const auto add = [&](std::uint32_t leaf, std::uint32_t subleaf) {
    const CpuidLeaf answer = host.cpuid(leaf, subleaf).value_or(CpuidLeaf{});
    features += fmt::format(" {:08x} {:08x} {:08x}", answer.ebx, answer.ecx, answer.edx);
    return answer.eax;
  };
  constexpr std::uint32_t extended_features = 7;
  constexpr std::uint32_t amd_features = 0x80000001;
  if (zero.eax >= extended_features && add(extended_features, 0) >= 1) {
    features += fmt::format(" {:08x}", add(extended_features, 1));
  }
  if (host.cpuid(0x80000000, 0).value_or(CpuidLeaf{}).eax >= amd_features) add(amd_features, 0);
  traits["the features of the CPU"] = features;
  constexpr std::uint32_t osxsave = 1U << 27U;
  if ((one.ecx & osxsave) != 0) traits["XCR0"] = fmt::format("{:#x}", host.xcr0());
}

void add_words(Host& host, MachineTraits& traits) {
  std::string words;
  for (const unsigned long type : {16UL, 26UL, 29UL}) {
    words += fmt::format("{:x} ", host.auxiliary(type).value_or(0));
  }
  constexpr std::int64_t riscv_extensions = 4;
  words += fmt::format("{:x}", host.riscv_hwprobe(riscv_extensions).value_or(0));
  traits["the features of the CPU"] = words;
  traits["the CPU"] =
      host.read_file("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", 64).value_or("");
}

void add_devices(Host& host, MachineTraits& traits) {
  std::string devices;
  for (const std::string& address : host.list_folder("/sys/bus/pci/devices")) {
    const std::string device = detect::pci_folder(address);
    const auto id = detect::parse_modalias(host.read_file(device + "/modalias").value_or(""));
    if (!id || !detect::may_accelerate(*id)) continue;
    const std::string driver = host.read_link(device + "/driver").value_or("");
    devices +=
        fmt::format("{}{} {} {}", devices.empty() ? "" : ", ", address,
                    detect::render_pci_id(id->vendor, id->device), detect::file_name(driver));
  }
  traits["the accelerators on the bus"] = devices;
}

/// Nodes made for GPUs and NPUs; nvidia-uvm and similar come and go with their use.
bool is_device_node(std::string_view folder, std::string_view name) {
  if (folder == "/dev/dri") return name.starts_with("renderD");
  if (folder == "/dev/accel") return name.starts_with("accel");
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (folder == "/dev/vfio") return is_number(name);
  for (const std::string_view numbered : {"nvidia", "davinci", "accel"}) {
    if (name.starts_with(numbered) && is_number(name.substr(numbered.size()))) return true;
  }
  return name == "nvidiactl" || name == "kfd" || name == "dxg" || name == "nvhost-gpu";
}

/// If a container recorded it without device nodes, a machine with them is a different one.
void add_nodes(Host& host, MachineTraits& traits) {
  std::string nodes;
  for (const char* folder : {"/dev", "/dev/accel", "/dev/dri", "/dev/vfio"}) {
    for (const std::string& name : host.list_folder(folder)) {
      if (!is_device_node(folder, name)) continue;
      nodes += fmt::format("{}{}/{}", nodes.empty() ? "" : " ", folder, name);
    }
  }
  traits["the device nodes"] = nodes;
}

void add_modules(Host& host, MachineTraits& traits) {
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    for (const std::string_view module : vendor.modules) {
      std::string version;
      for (const char* file : {"version", "srcversion"}) {
        version += host.read_file(fmt::format("/sys/module/{}/{}", module, file), 128).value_or("");
      }
      std::erase(version, '\n');
      traits[fmt::format("the kernel module {}", module)] = version;
    }
  }
}

std::string explain_difference(const MachineTraits& recorded, const MachineTraits& here) {
  for (const auto& [what, value] : here) {
    const auto found = recorded.find(what);
    const std::string then = found == recorded.end() ? std::string() : found->second;
    if (then == value) continue;
    const auto shown = [](const std::string& text) { return text.empty() ? "none" : text; };
    return fmt::format("{} changed: {} was recorded, now it is {}", what, shown(then),
                       shown(value));
  }
  return recorded.size() == here.size() ? "" : "the kind of the CPU changed";
}

/// Drivers' answers depend on access to their device nodes.
std::string explain_rights(const detect::Recording& recorded, Host& here) {
  for (const auto& [path, access] : recorded.nodes) {
    if (!path.starts_with("/dev/") || access != Access::read_write) continue;
    if (here.accessible(path, Access::read_write)) continue;
    return fmt::format("{} could be opened when it was recorded, but cannot be now", path);
  }
  return {};
}

/// The variable whose mask contains a GPU's id, which a profile only has in replaced form; empty:
/// none.
std::string find_mask_of_ids(Host& here) {
  for (const char* variable :
       {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"}) {
    if (here.environment(variable).value_or("").contains("GPU-")) return variable;
  }
  return {};
}

// --- the file ------------------------------------------------------------------------------------

std::string how_to_fix(const std::string& path) {
  return fmt::format(
      "record it again as root: `variant detect --profile {}`; or set AXLE_SITE_PROFILE=none",
      shell_word(path));
}

std::unexpected<Error> refuse(const std::string& path, std::string_view why, ErrorKind kind) {
  return fail(kind, fmt::format("{} is ignored: {}", path, why), how_to_fix(path));
}

/// Why the open file cannot be trusted; empty if it can.
std::string distrust(int descriptor, SiteOwner owner) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) return std::strerror(errno);
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  const bool trusted =
      status.st_uid == 0 || (owner == SiteOwner::root_or_caller && status.st_uid == ::geteuid());
  if (!trusted) return fmt::format("it belongs to user {}, not to root", status.st_uid);
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return "it is writable by users other than its owner";
  return {};
}

std::optional<std::string> read_all(int descriptor) {
  std::string text;
  std::array<char, 16 * 1024> buffer;
  while (text.size() <= largest_profile) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace

MachineTraits read_traits(Host& host) {
  MachineTraits traits;
  if (host.arch() == detect::Arch::x86_64) {
    add_x86(host, traits);
  } else {
    add_words(host, traits);
  }
  add_devices(host, traits);
  add_nodes(host, traits);
  add_modules(host, traits);
  return traits;
}

Result<std::optional<Profile>> read_site_profile(const std::string& path, SiteOwner owner,
                                                 Host& here) {
  // Non-blocking, so that a FIFO cannot block; links are not followed.
  const system::Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return refuse(path, errno == ELOOP ? "it is not a regular file" : std::strerror(errno),
                  ErrorKind::io);
  }
  if (const std::string why = distrust(file.get(), owner); !why.empty()) {
    return refuse(path, why, ErrorKind::io);
  }
  const auto text = read_all(file.get());
  if (!text) return refuse(path, "it cannot be read", ErrorKind::io);
  auto profile = parse_profile(*text, path);
  if (!profile) {
    return fail(profile.error().kind, profile.error().message + "; it is ignored",
                how_to_fix(path));
  }
  if (!profile->recording) {
    return refuse(path, "it states facts, but only a recording can be compared with this machine",
                  ErrorKind::mismatch);
  }
  detect::ReplayHost recorded(*profile->recording);
  const std::string difference = explain_difference(read_traits(recorded), read_traits(here));
  if (!difference.empty()) return refuse(path, difference, ErrorKind::mismatch);
  if (const std::string why = explain_rights(*profile->recording, here); !why.empty()) {
    return refuse(path, why, ErrorKind::mismatch);
  }
  if (const std::string mask = find_mask_of_ids(here); !mask.empty()) {
    return fail(
        ErrorKind::mismatch,
        fmt::format("{} is ignored: {} names a GPU by its id, which profiles do not contain", path,
                    mask),
        fmt::format("specify it by its number in {}, or set AXLE_SITE_PROFILE=none", mask));
  }
  return std::optional(std::move(*profile));
}

bool SiteHost::accessible(const std::string& path, Access access) {
  return path.starts_with("/dev/") ? here_.accessible(path, access)
                                   : ReplayHost::accessible(path, access);
}

std::optional<std::string> SiteHost::environment(const std::string& variable) {
  // The content of its folders was recorded with it.
  return variable == "LD_LIBRARY_PATH" ? ReplayHost::environment(variable)
                                       : here_.environment(variable);
}

}  // namespace axle::machines
