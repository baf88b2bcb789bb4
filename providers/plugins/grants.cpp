#include "providers/plugins/grants.h"

#include <algorithm>

#include <glob.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace axle::plugins {
namespace {

using Names = std::string_view;

// What the published plugins run and read; the drivers' own nodes.
constexpr Names nvidia_programs[] = {"nvidia-smi"};
constexpr Names nvidia_devices[] = {"/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/nvhost-*",
                                    "/dev/nvmap", "/dev/dxg"};
constexpr Names nvidia_variables[] = {"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION",
                                      "NV_VARIANT_PROVIDER_FORCE_SM_ARCH"};
constexpr Names amd_programs[] = {"rocminfo", "rocm_agent_enumerator", "modinfo"};
constexpr Names amd_devices[] = {"/dev/kfd", "/dev/dri/renderD*", "/dev/dxg"};
constexpr Names amd_readable[] = {"/opt/rocm", "/opt/rocm-*"};
constexpr Names amd_folders[] = {"ROCM_PATH"};
constexpr Names amd_variables[] = {
    "AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH", "AMD_VARIANT_PROVIDER_FORCE_ROCM_VERSION",
    "AMD_PREFERRED_GFX_ARCHS", "AMD_VARIANT_PROVIDER_LOGLEVEL", "ROCM_PATH"};
constexpr Names intel_devices[] = {"/dev/dri/renderD*", "/dev/dxg"};
constexpr Names intel_readable[] = {"/opt/intel/oneapi"};
constexpr Names intel_variables[] = {"INTEL_VARIANT_PROVIDER_FORCE_DEVICE_IP", "XPU_DEBUG_ZE"};
constexpr Names ascend_programs[] = {"npu-smi"};
constexpr Names ascend_devices[] = {"/dev/davinci*", "/dev/devmm_svm", "/dev/hisi_hdc"};
constexpr Names ascend_readable[] = {"/etc/ascend_install.info"};
constexpr Names ascend_folders[] = {"ASCEND_TOOLKIT_HOME"};
constexpr Names ascend_variables[] = {
    "ASCEND_VARIANT_PROVIDER_FORCE_NPU_TYPE", "ASCEND_VARIANT_PROVIDER_FORCE_DRIVER_VERSION",
    "ASCEND_VARIANT_PROVIDER_FORCE_CANN_VERSION", "ASCEND_TOOLKIT_HOME"};
constexpr Names tpu_variables[] = {"TPU_VARIANT_PROVIDER_FORCE_PRESENT"};

constexpr NamespaceGrants rows[] = {
    {"nvidia", nvidia_programs, nvidia_devices, {}, {}, nvidia_variables},
    {"amd", amd_programs, amd_devices, amd_readable, amd_folders, amd_variables},
    {"intel", {}, intel_devices, intel_readable, {}, intel_variables},
    {"ascend", ascend_programs, ascend_devices, ascend_readable, ascend_folders, ascend_variables},
    {"tpu", {}, {}, {}, {}, tpu_variables},
};

constexpr Names device_masks[] = {
    "CUDA_VISIBLE_DEVICES",      "CUDA_DEVICE_ORDER",      "NVIDIA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",       "ROCR_VISIBLE_DEVICES",   "GPU_DEVICE_ORDINAL",
    "ZE_AFFINITY_MASK",          "ONEAPI_DEVICE_SELECTOR", "ASCEND_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES", "TPU_VISIBLE_CHIPS"};

void append_matches(Names pattern, std::vector<std::string>& paths) {
  glob_t found{};
  if (::glob(std::string(pattern).c_str(), 0, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
}

/// /dev/mem and the like, terminals, consoles, pseudo terminals
/// (Documentation/admin-guide/devices.txt of Linux).
bool is_everybodys(dev_t device) {
  const unsigned number = major(device);
  return number == 1 || number == 4 || number == 5 || (number >= 128 && number <= 143);
}

bool is_grantable(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) &&
         !is_everybodys(status.st_rdev);
}

/// The first of that name in `program_folders`.
void append_program(Names name, std::vector<std::string>& paths) {
  std::string_view rest = program_folders;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    std::string path = std::string(rest.substr(0, colon)) + "/" + std::string(name);
    rest.remove_prefix(std::min(colon + 1, rest.size()));
    if (::access(path.c_str(), X_OK) != 0) continue;
    paths.push_back(std::move(path));
    return;
  }
}

/// At least two components below the root, and no "..": "/" or "/home" would grant everything.
bool is_deep_folder(std::string_view path) {
  if (!path.starts_with('/')) return false;
  std::size_t depth = 0;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, slash);
    if (name == "..") return false;
    if (!name.empty() && name != ".") ++depth;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return depth >= 2;
}

}  // namespace

bool is_device_pattern(std::string_view text) {
  constexpr std::string_view folder = "/dev/";
  if (!text.starts_with(folder) || text.contains('\0')) return false;
  const std::string_view name = text.substr(folder.size());
  const bool open = name.empty() || std::string_view("*?[/.").contains(name.front());
  return !open && !text.contains("..") &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

std::vector<std::string> device_nodes(std::span<const std::string> patterns) {
  std::vector<std::string> nodes;
  for (const std::string& pattern : patterns) {
    if (is_device_pattern(pattern)) append_matches(pattern, nodes);
  }
  std::erase_if(nodes, [](const std::string& path) { return !is_grantable(path); });
  return nodes;
}

std::span<const NamespaceGrants> grants_table() { return rows; }

const NamespaceGrants* grants_of(std::string_view ns) {
  const auto* const row = std::ranges::find(rows, ns, &NamespaceGrants::ns);
  return row == std::end(rows) ? nullptr : row;
}

std::vector<std::string_view> passed_variables(std::string_view ns) {
  std::vector<std::string_view> names(std::begin(device_masks), std::end(device_masks));
  if (const NamespaceGrants* row = grants_of(ns))
    names.insert(names.end(), row->variables.begin(), row->variables.end());
  return names;
}

Grants granted_to(std::string_view ns,
                  std::span<const std::pair<std::string, std::string>> environment) {
  Grants grants;
  const NamespaceGrants* row = grants_of(ns);
  if (row == nullptr) return grants;
  for (const Names name : row->programs) append_program(name, grants.programs);
  for (const Names pattern : row->devices) append_matches(pattern, grants.devices);
  for (const Names pattern : row->readable) append_matches(pattern, grants.readable);
  for (const auto& [name, value] : environment) {
    const bool is_folder =
        std::ranges::find(row->folder_variables, name) != row->folder_variables.end();
    if (is_folder && is_deep_folder(value)) grants.readable.push_back(value);
  }
  return grants;
}

}  // namespace axle::plugins
