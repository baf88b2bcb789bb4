#include <string>

#include <dlfcn.h>

#include "detect/drivers/children.h"
#include "detect/drivers/driver_libraries.h"
#include "detect/drivers/library_search.h"
#include "detect/drivers/library_trust.h"
#include "detect/nvidia/nvidia_smi.h"
#include "detect/nvidia/probe.h"

namespace axle::detect {
namespace {

/// WSL's and Google's container images install it outside of PATH.
constexpr std::string_view tool_folders[] = {"/usr/bin", "/usr/lib/wsl/lib",
                                             "/usr/local/nvidia/bin"};

bool is_runnable(Host& host, const std::string& file) {
  // A command's words are separated by spaces.
  return file.starts_with('/') && file.find(' ') == std::string::npos &&
         host.accessible(file, Access::read) && refuse_file(file, own_privilege()).empty();
}

std::string find_tool(Host& host) {
  const std::string path = host.environment("PATH").value_or("");
  for (const std::string_view folder : split_library_path(path)) {
    std::string file = std::string(folder) + "/nvidia-smi";
    if (is_runnable(host, file)) return file;
  }
  for (const std::string_view folder : tool_folders) {
    std::string file = std::string(folder) + "/nvidia-smi";
    if (is_runnable(host, file)) return file;
  }
  return {};
}

void say_device(LineSink& sink, const NvidiaDevice& device) {
  sink.say("nvml.device", {std::to_string(device.index), device.capability, device.pci_address,
                           std::to_string(device.memory), device.uuid, device.name, device.pci_id,
                           device.mig ? "1" : "0", ""});
}

}  // namespace

bool can_load_libraries() { return ::dlopen(nullptr, RTLD_LAZY) != nullptr; }

void ask_nvidia_tool(LineSink& sink) {
  const auto host = make_real_host();
  if (LibrarySearch(*host).find("libcuda.so.1").empty()) {
    sink.say("cuda.missing", {"there is no libcuda.so.1"});
  }
  const std::string file = find_tool(*host);
  if (file.empty()) {
    return sink.say("cuda.missing",
                    {"this program cannot load libraries, and there is no nvidia-smi"});
  }
  sink.say("step", {"nvidia-smi"});
  // The waiting process enforces the time limit.
  const std::string text =
      run_in_child(file + ' ' + std::string(nvidia_smi_query), std::chrono::hours(1)).text;
  const NvidiaTool tool = parse_nvidia_smi(text);
  if (tool.devices.empty()) {
    return sink.say("cuda.missing",
                    {"this program cannot load libraries, and nvidia-smi lists no GPU: " +
                     text.substr(0, text.find('\n'))});
  }
  sink.say("nvml.by", {"nvidia-smi"});
  sink.say("nvml.init", 0);
  sink.say("nvml.driver", {tool.driver_version});
  sink.say("nvml.count", static_cast<std::int64_t>(tool.devices.size()));
  for (const NvidiaDevice& device : tool.devices) say_device(sink, device);
}

}  // namespace axle::detect
