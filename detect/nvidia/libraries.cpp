#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include "detect/drivers/driver_libraries.h"
#include "detect/drivers/driver_lines.h"
#include "detect/drivers/library_search.h"
#include "detect/host.h"
#include "detect/nvidia/cuda_compat.h"
#include "detect/nvidia/probe.h"
#include "detect/pci_bus.h"

namespace axle::detect {
namespace {

// The binary interfaces of NVIDIA's CUDA driver API and NVML references.
using CudaDevice = int;
using NvmlDevice = void*;

struct NvmlPciInfo {  // nvmlPciInfo_t, version 3
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned pci_device_id;
  unsigned pci_subsystem_id;
  char bus_id[32];
};

struct NvmlMemory {  // nvmlMemory_t, version 1
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct NvmlFabric {  // nvmlGpuFabricInfo_t
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
  unsigned char room[64];  // more than any version writes
};
constexpr unsigned char fabric_not_started = 1;
constexpr unsigned char fabric_in_progress = 2;

constexpr int attribute_integrated = 18;
constexpr int attribute_major = 75;
constexpr int attribute_minor = 76;

std::string capability_of(int major, int minor) {
  return std::to_string(major) + '.' + std::to_string(minor);
}

class Nvml {
 public:
  Nvml(const VendorLibrary& library, LineSink& sink) : library_(library), sink_(sink) {}

  /// True if every device was listed with its compute capability.
  bool ask();
  /// Whether the devices differ, so that CUDA's own order of them matters.
  [[nodiscard]] bool mixed() const { return mixed_; }
  [[nodiscard]] bool fabric_pending() const { return fabric_pending_; }
  /// A GPU is in MIG mode and appears to have no instance: NVML accepts that, CUDA does not.
  [[nodiscard]] bool lacks_instance() const { return lacks_instance_; }

 private:
  void say_versions();
  bool say_device(unsigned index, NvmlDevice device);
  std::string count_instances(NvmlDevice device);
  void say_fabric(unsigned index, NvmlDevice device);

  const VendorLibrary& library_;
  LineSink& sink_;
  std::string first_model_;
  bool mixed_ = false;
  bool fabric_pending_ = false;
  bool lacks_instance_ = false;
};

void Nvml::say_versions() {
  if (auto* read = library_.find<int(char*, unsigned)>("nvmlSystemGetDriverVersion")) {
    std::array<char, 96> version{};
    if (read(version.data(), version.size() - 1) == 0) {
      sink_.say("nvml.driver", {version.data()});
    }
  }
  auto* cuda = library_.find<int(int*)>("nvmlSystemGetCudaDriverVersion_v2");
  if (cuda == nullptr) cuda = library_.find<int(int*)>("nvmlSystemGetCudaDriverVersion");
  int version = 0;
  if (cuda != nullptr && cuda(&version) == 0) sink_.say("nvml.cuda", version);
}

bool Nvml::say_device(unsigned index, NvmlDevice device) {
  std::array<char, 128> name{};
  if (auto* read = library_.find<int(NvmlDevice, char*, unsigned)>("nvmlDeviceGetName")) {
    if (read(device, name.data(), name.size() - 1) != 0) name = {};
  }
  std::array<char, 128> uuid{};
  if (auto* read = library_.find<int(NvmlDevice, char*, unsigned)>("nvmlDeviceGetUUID")) {
    if (read(device, uuid.data(), uuid.size() - 1) != 0) uuid = {};
  }
  NvmlPciInfo pci{};
  if (auto* read = library_.find<int(NvmlDevice, NvmlPciInfo*)>("nvmlDeviceGetPciInfo_v3")) {
    if (read(device, &pci) != 0) pci = {};
    pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
  }
  NvmlMemory memory{};
  if (auto* read = library_.find<int(NvmlDevice, NvmlMemory*)>("nvmlDeviceGetMemoryInfo")) {
    if (read(device, &memory) != 0) memory = {};
  }
  int major = 0;
  int minor = 0;
  std::string capability;
  auto* read = library_.find<int(NvmlDevice, int*, int*)>("nvmlDeviceGetCudaComputeCapability");
  if (read != nullptr && read(device, &major, &minor) == 0) {
    capability = capability_of(major, minor);
  }
  unsigned mig = 0;
  unsigned pending = 0;
  auto* read_mig = library_.find<int(NvmlDevice, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
  if (read_mig == nullptr || read_mig(device, &mig, &pending) != 0) mig = 0;
  // The device id is in the upper half, the vendor id in the lower.
  const std::string pci_id =
      pci.pci_device_id == 0 ? std::string()
                             : render_pci_id(pci.pci_device_id & 0xFFFFU, pci.pci_device_id >> 16U);
  const std::string instances = mig == 1 ? count_instances(device) : std::string();
  lacks_instance_ = lacks_instance_ || instances == "0";
  sink_.say("nvml.device",
            {std::to_string(index), capability, pci.bus_id, std::to_string(memory.total),
             uuid.data(), name.data(), pci_id, mig == 1 ? "1" : "0", instances});
  say_fabric(index, device);
  const std::string model = capability + ' ' + name.data();
  if (index == 0) first_model_ = model;
  mixed_ = mixed_ || model != first_model_;
  return !capability.empty();
}

/// The MIG instances of a GPU in MIG mode; empty if NVML is too old to report them.
std::string Nvml::count_instances(NvmlDevice device) {
  auto* most = library_.find<int(NvmlDevice, unsigned*)>("nvmlDeviceGetMaxMigDeviceCount");
  auto* get =
      library_.find<int(NvmlDevice, unsigned, NvmlDevice*)>("nvmlDeviceGetMigDeviceHandleByIndex");
  unsigned slots = 0;
  if (most == nullptr || get == nullptr || most(device, &slots) != 0) return {};
  int found = 0;
  for (unsigned i = 0; i < slots && i < most_devices; ++i) {
    NvmlDevice instance = nullptr;
    if (get(device, i, &instance) == 0) ++found;
  }
  return std::to_string(found);
}

/// If GPUs are connected through NVSwitch, nothing runs until the fabric manager has set them up.
/// NVML works without that, so only cuInit shows it.
void Nvml::say_fabric(unsigned index, NvmlDevice device) {
  auto* read = library_.find<int(NvmlDevice, NvmlFabric*)>("nvmlDeviceGetGpuFabricInfo");
  NvmlFabric fabric{};
  if (read == nullptr || read(device, &fabric) != 0) return;
  if (fabric.state != fabric_not_started && fabric.state != fabric_in_progress) return;
  fabric_pending_ = true;
  sink_.say("nvml.fabric", {std::to_string(index), std::to_string(fabric.state)});
}

bool Nvml::ask() {
  auto* init = library_.find<int()>("nvmlInit_v2");
  if (init == nullptr) init = library_.find<int()>("nvmlInit");
  auto* count = library_.find<int(unsigned*)>("nvmlDeviceGetCount_v2");
  auto* handle = library_.find<int(unsigned, NvmlDevice*)>("nvmlDeviceGetHandleByIndex_v2");
  if (init == nullptr || count == nullptr || handle == nullptr) {
    sink_.say("nvml.symbol", {init == nullptr    ? "nvmlInit_v2"
                              : count == nullptr ? "nvmlDeviceGetCount_v2"
                                                 : "nvmlDeviceGetHandleByIndex_v2"});
    return false;
  }
  sink_.say("step", {"nvmlInit"});
  const int initialised = init();
  sink_.say("nvml.init", initialised);
  if (initialised != 0) return false;
  say_versions();
  sink_.say("step", {"nvmlDeviceGetCount"});
  unsigned devices = 0;
  if (const int counted = count(&devices); counted != 0) {
    sink_.say("nvml.init", counted);
    return false;
  }
  sink_.say("nvml.count", devices);
  bool complete = devices > 0;
  for (unsigned i = 0; i < devices && i < most_devices; ++i) {
    sink_.say("step", {"nvmlDeviceGetHandleByIndex"});
    NvmlDevice device = nullptr;
    if (const int found = handle(i, &device); found != 0) {
      sink_.say("nvml.device_error", {std::to_string(i), std::to_string(found)});
      continue;
    }
    complete = say_device(i, device) && complete;
  }
  return complete;
}

class Cuda {
 public:
  Cuda(const VendorLibrary& library, LineSink& sink) : library_(library), sink_(sink) {}

  void say_version();
  /// 0, or the error code.
  int ask();
  /// The library is a forward-compatibility one. Known after say_version.
  [[nodiscard]] bool compat() const { return compat_; }
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  void say_compat();
  void say_device(int index);

  const VendorLibrary& library_;
  LineSink& sink_;
  std::string file_;
  bool compat_ = false;
};

void Cuda::say_compat() {
  const auto text = read_compat_note(file_);
  const auto note = text ? parse_compat_note(*text) : std::nullopt;
  compat_ = note || is_compat_path(file_);
  if (!compat_) return;
  std::string branches;
  for (const unsigned branch : note.value_or(CompatNote{}).branches) {
    branches += (branches.empty() ? "" : ",") + std::to_string(branch);
  }
  sink_.say("cuda.compat", {note.value_or(CompatNote{}).cuda_version, branches});
}

void Cuda::say_version() {
  file_ = library_.file_of("cuDriverGetVersion");
  sink_.say("cuda.file", {file_});
  say_compat();
  auto* read = library_.find<int(int*)>("cuDriverGetVersion");
  if (read == nullptr) return sink_.say("cuda.symbol", {"cuDriverGetVersion"});
  sink_.say("step", {"cuDriverGetVersion"});
  int version = 0;
  if (const int code = read(&version); code != 0) return sink_.say("cuda.version_error", code);
  sink_.say("cuda.version", version);
}

void Cuda::say_device(int index) {
  auto* get = library_.find<int(CudaDevice*, int)>("cuDeviceGet");
  auto* attribute = library_.find<int(int*, int, CudaDevice)>("cuDeviceGetAttribute");
  if (get == nullptr || attribute == nullptr) {
    return sink_.say("cuda.symbol", {get == nullptr ? "cuDeviceGet" : "cuDeviceGetAttribute"});
  }
  CudaDevice device = 0;
  if (get(&device, index) != 0) return;
  int major = 0;
  int minor = 0;
  int integrated = 0;
  std::string capability;
  if (attribute(&major, attribute_major, device) == 0 &&
      attribute(&minor, attribute_minor, device) == 0) {
    capability = capability_of(major, minor);
  }
  if (attribute(&integrated, attribute_integrated, device) != 0) integrated = 0;
  std::array<char, 128> name{};
  if (auto* read = library_.find<int(char*, int, CudaDevice)>("cuDeviceGetName")) {
    if (read(name.data(), static_cast<int>(name.size()) - 1, device) != 0) name = {};
  }
  std::array<char, 64> bus{};
  if (auto* read = library_.find<int(char*, int, CudaDevice)>("cuDeviceGetPCIBusId")) {
    if (read(bus.data(), static_cast<int>(bus.size()) - 1, device) != 0) bus = {};
  }
  std::size_t memory = 0;
  if (auto* read = library_.find<int(std::size_t*, CudaDevice)>("cuDeviceTotalMem_v2")) {
    if (read(&memory, device) != 0) memory = 0;
  }
  sink_.say("cuda.device", {std::to_string(index), capability, bus.data(), std::to_string(memory),
                            integrated != 0 ? "1" : "0", name.data()});
}

int Cuda::ask() {
  auto* init = library_.find<int(unsigned)>("cuInit");
  auto* count = library_.find<int(int*)>("cuDeviceGetCount");
  if (init == nullptr || count == nullptr) {
    sink_.say("cuda.symbol", {init == nullptr ? "cuInit" : "cuDeviceGetCount"});
    return -1;
  }
  sink_.say("step", {"cuInit"});
  const int initialised = init(0);
  sink_.say("cuda.init", initialised);
  if (initialised != 0) return initialised;
  sink_.say("step", {"cuDeviceGetCount"});
  int devices = 0;
  if (const int counted = count(&devices); counted != 0) {
    sink_.say("cuda.init", counted);
    return counted;
  }
  sink_.say("cuda.count", devices);
  for (int i = 0; i < devices && i < static_cast<int>(most_devices); ++i) say_device(i);
  return 0;
}

/// By default CUDA numbers different devices by speed; only CUDA knows that order.
bool order_matters(bool mixed) {
  if (!mixed || std::getenv("CUDA_VISIBLE_DEVICES") == nullptr) return false;
  const char* order = std::getenv("CUDA_DEVICE_ORDER");
  return order == nullptr || std::string_view(order) != "PCI_BUS_ID";
}

/// The fallback if the forward-compatibility library fails: the libcuda of the driver. Loaded by
/// path, so that the loader treats it as another library.
void ask_own_cuda(const std::string& failed, LineSink& sink) {
  const auto host = make_real_host();
  for (const std::string& file : LibrarySearch(*host).find_all("libcuda.so.1")) {
    const std::string real = real_path(file);
    if (real.empty() || real == failed || is_compat_path(real) || is_compat_path(file)) continue;
    if (read_compat_note(real)) continue;
    sink.say("step", {"loading the driver's own libcuda.so.1"});
    const VendorLibrary library{file.c_str()};
    if (!library.loaded()) continue;
    sink.say("cuda.retry", {real});
    Cuda cuda(library, sink);
    cuda.say_version();
    cuda.ask();
    return;
  }
}

}  // namespace

void ask_nvidia_libraries(LineSink& sink) {
  if (!can_load_libraries()) return ask_nvidia_tool(sink);
  sink.say("step", {"loading libcuda.so.1"});
  const VendorLibrary cuda_library{"libcuda.so.1"};
  Cuda cuda(cuda_library, sink);
  if (cuda_library.loaded()) {
    cuda.say_version();
  } else {
    cuda_library.say_missing(sink, "cuda.missing");
  }
  sink.say("step", {"loading libnvidia-ml.so.1"});
  const VendorLibrary nvml_library{"libnvidia-ml.so.1"};
  Nvml nvml(nvml_library, sink);
  bool complete = false;
  if (nvml_library.loaded()) {
    complete = nvml.ask();
  } else {
    nvml_library.say_missing(sink, "nvml.missing");
  }
  if (!cuda_library.loaded()) return;
  // cuInit takes up to seconds without a persistence daemon. NVML reports the same, unless it is
  // missing (Jetson) or incomplete, or CUDA lacks a device node that NVML does not need.
  const bool has_compute_node = ::access("/dev/nvidia-uvm", F_OK) == 0;
  const bool is_wsl = ::access("/dev/dxg", F_OK) == 0;
  const bool sure = !order_matters(nvml.mixed()) && !nvml.fabric_pending() &&
                    !nvml.lacks_instance() && !cuda.compat();
  if (complete && (has_compute_node || is_wsl) && sure) return;
  // A mask is a user's setting, not a fact of the driver: an empty one would make cuInit fail.
  drop_environment("CUDA_VISIBLE_DEVICES");
  if (cuda.ask() != 0 && cuda.compat()) ask_own_cuda(cuda.file(), sink);
}

}  // namespace axle::detect
