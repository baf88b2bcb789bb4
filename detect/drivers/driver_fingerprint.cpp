#include "detect/drivers/driver_fingerprint.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "detect/device_node.h"
#include "detect/drivers/library_search.h"
#include "detect/drivers/loader_cache.h"
#include "detect/pci_bus.h"
#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

constexpr std::size_t longest_value = 200;
constexpr const char* boot_id_file = "/proc/sys/kernel/random/boot_id";

/// One line: control characters as %XX, long values as their length and hash.
std::string on_one_line(std::string_view value) {
  if (value.size() > longest_value) {
    return '#' + std::to_string(value.size()) + '-' + short_hash(value);
  }
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != '%' && byte != 0x7F) {
      text += c;
      continue;
    }
    std::array<char, 4> escaped;
    std::snprintf(escaped.data(), escaped.size(), "%%%02X", byte);
    text += escaped.data();
  }
  return text;
}

class Fingerprint {
 public:
  explicit Fingerprint(Host& host) : host_(host), libraries_(host) {}

  void add(std::string_view name, std::string_view value) {
    text_ += name;
    text_ += '\t';
    text_ += on_one_line(value);
    text_ += '\n';
  }

  void add_file(const std::string& path) {
    if (const auto content = host_.read_file(path, 4096)) add(path, trim(*content));
  }

  void add_stamp(const std::string& path) {
    if (const auto stamp = host_.file_stamp(path)) add(path, *stamp);
  }

  void add_folder(const std::string& path) {
    for (const std::string& name : host_.list_folder(path)) add(path, name);
  }

  void add_environment(std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (const auto value = host_.environment(name)) add(name, *value);
    }
  }

  void add_node(const std::string& path) {
    switch (look_at_node(host_, path)) {
      case NodeState::missing:
        return;
      case NodeState::refused:
        return add(path, "refused");
      case NodeState::open:
        return add(path, "open");
    }
  }

  void add_module(const std::string& module) {
    const std::string folder = "/sys/module/" + module;
    if (!host_.accessible(folder, Access::exists)) return;
    add(folder, std::string(trim(host_.read_file(folder + "/version", 256).value_or(""))) + ' ' +
                    std::string(trim(host_.read_file(folder + "/srcversion", 256).value_or(""))));
  }

  /// Every file of that name that the loader or we could take.
  void add_library(std::string_view file) {
    for (const std::string& path : libraries_.find_all(file)) add_stamp(path);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }
  [[nodiscard]] Host& host() { return host_; }

 private:
  Host& host_;
  LibrarySearch libraries_;
  std::string text_;
};

/// Whether "/" is what a line of mountinfo mounts: its fifth word (proc_pid_mountinfo(5)).
bool mounts_root(std::string_view line) {
  for (int word = 0; word < 4; ++word) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return false;
    line.remove_prefix(space + 1);
  }
  return line.starts_with("/ ");
}

/// The line of /proc/self/mountinfo for "/": another in each container (its own overlay).
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

void add_nvidia(Fingerprint& print) {
  for (const char* module : {"nvidia", "nvidia_uvm"}) print.add_module(module);
  print.add_file("/proc/driver/nvidia/version");
  print.add_folder("/proc/driver/nvidia/gpus");
  for (const std::string& gpu : print.host().list_folder("/proc/driver/nvidia/capabilities")) {
    print.add_folder("/proc/driver/nvidia/capabilities/" + gpu + "/mig");
  }
  for (const std::string& name : print.host().list_folder("/dev")) {
    if (name.starts_with("nvidia") || name.starts_with("nvhost") || name.starts_with("nvgpu")) {
      print.add_node("/dev/" + name);
    }
  }
  print.add_folder("/dev/nvidia-caps");
  print.add_node("/dev/dxg");
  for (const char* file : {"libcuda.so.1", "libnvidia-ml.so.1"}) print.add_library(file);
  print.add_environment({"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES"});
}

void add_amd(Fingerprint& print) {
  print.add_module("amdgpu");
  print.add_file("/sys/class/kfd/kfd/topology/generation_id");
  print.add_node("/dev/kfd");
  for (const char* file :
       {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so.1"}) {
    print.add_library(file);
  }
  print.add_environment({"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                         "GPU_DEVICE_ORDINAL", "HSA_OVERRIDE_GFX_VERSION"});
}

void add_intel(Fingerprint& print) {
  for (const char* module : {"xe", "i915"}) print.add_module(module);
  for (const char* file :
       {"libze_loader.so.1", "libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1"}) {
    print.add_library(file);
  }
  const std::string drivers = print.host().environment("ZE_ENABLE_ALT_DRIVERS").value_or("");
  std::string_view rest = drivers;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    print.add_stamp(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  print.add_environment({"ZE_ENABLE_ALT_DRIVERS", "ZE_AFFINITY_MASK", "ZE_FLAT_DEVICE_HIERARCHY",
                         "ZE_ENABLE_PCI_ID_DEVICE_ORDER", "ZE_ENABLE_NULL_DRIVER"});
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
    if (vendor == GpuVendor::nvidia) add_nvidia(print);
    if (vendor == GpuVendor::amd) add_amd(print);
    if (vendor == GpuVendor::intel) add_intel(print);
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
