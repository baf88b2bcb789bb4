#include "detect/drivers/driver_fingerprint.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "detect/drivers/fingerprint.h"
#include "detect/drivers/loader_cache.h"
#include "detect/pci_bus.h"
#include "detect/text_pieces.h"
#include "detect/vendor_probe.h"

namespace axle::detect {
namespace {

constexpr const char* boot_id_file = "/proc/sys/kernel/random/boot_id";

/// Whether a line of mountinfo mounts "/": its fifth word (proc_pid_mountinfo(5)).
bool mounts_root(std::string_view line) {
  for (int word = 0; word < 4; ++word) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return false;
    line.remove_prefix(space + 1);
  }
  return line.starts_with("/ ");
}

/// The line of /proc/self/mountinfo for "/": different in each container (its own overlay).
std::string read_root_mount(Host& host) {
  const std::string table = host.read_file("/proc/self/mountinfo").value_or("");
  std::string_view rest = table;
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (mounts_root(line)) return std::string(line);
  }
  return {};
}

void add_system(Fingerprint& print, std::string_view program) {
  print.add("program", program);
  print.add_file(boot_id_file);
  print.add("kernel", print.host().system_name().release);
  print.add("container", read_root_mount(print.host()));
  print.add_stamp(std::string(loader_cache_file));
  print.add_environment({"LD_LIBRARY_PATH", "LD_PRELOAD"});
}

}  // namespace

std::string short_hash(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  std::array<char, 20> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

std::string fingerprint_drivers(Host& host, std::span<const GpuVendor> vendors,
                                std::string_view program) {
  Fingerprint print(host);
  add_system(print, program);
  for (const DisplayDevice& device : read_pci_bus(host).displays) {
    print.add(device.address, render_pci_id(device) + ' ' + device.driver);
  }
  for (const std::string& name : host.list_folder("/dev/dri")) print.add_node("/dev/dri/" + name);
  for (const GpuVendor vendor : vendors) {
    print.add("vendor", render_vendor(vendor));
    vendor_probe(vendor).add_to(print);
  }
  return print.take();
}

bool tells_boots(Host& host) {
  return !trim(host.read_file(boot_id_file, 4096).value_or("")).empty();
}

std::string fingerprint_tool(Host& host, const std::string& command, std::string_view program) {
  Fingerprint print(host);
  add_system(print, program);
  print.add("command", command);
  print.add_stamp(command.substr(0, command.find(' ')));
  print.add_file("/usr/local/Ascend/driver/version.info");
  for (const std::string& name : host.list_folder("/dev")) {
    if (name.starts_with("davinci")) print.add_node("/dev/" + name);
  }
  print.add_environment({"ASCEND_RT_VISIBLE_DEVICES"});
  return print.take();
}

}  // namespace axle::detect
