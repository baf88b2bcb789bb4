// Labels: NVIDIA GPU feature discovery ("Catalog of labels"), AMD's Kubernetes node labeller,
// Intel's rules for Node Feature Discovery, and Node Feature Discovery itself ("Feature labels").
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "detect/nvidia/cuda_drivers.h"
#include "foundation/documents/json_object.h"
#include "machines/cluster/cluster_nodes.h"
#include "machines/cluster/label_names.h"
#include "machines/gpu_models.h"
#include "machines/possible_facts.h"

namespace axle::machines {
namespace {

using detect::Arch;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;
using documents::JsonNode;
using documents::JsonObject;
using documents::JsonReading;
using Labels = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view label_source = "label";
constexpr unsigned most_gpus = 1024;

/// What the API says of one node.
struct NodeText {
  std::string name;
  Labels labels;
  Labels capacity;  ///< of extended resources: "nvidia.com/gpu" -> "8"
  std::string arch, system, kernel, image;
};

class NodeFacts {
 public:
  NodeFacts(const NodeText& node, std::string_view where) : node_(node), where_(where) {}

  Result<Machine> read() {
    read_platform();
    read_cpu();
    read_nvidia();
    read_amd();
    read_intel();
    read_cloud();
    if (error_) return std::unexpected(*error_);
    return std::move(machine_);
  }

 private:
  [[nodiscard]] const std::string* label(std::string_view name) const {
    const auto found = node_.labels.find(name);
    return found == node_.labels.end() || found->second.empty() ? nullptr : &found->second;
  }

  void refuse(std::string_view label, std::string_view why, std::string hint = {}) {
    if (error_) return;
    error_ =
        Error{ErrorKind::malformed,
              fmt::format("{}: node {}: {}: {}", where_, node_.name, label, why), std::move(hint)};
  }

  /// A whole number.
  std::optional<unsigned> number(std::string_view name, unsigned largest) {
    const std::string* const text = label(name);
    if (text == nullptr) return std::nullopt;
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error == std::errc() && end == text->data() + text->size() && value <= largest)
      return value;
    refuse(name, fmt::format("expected a number up to {}, not \"{}\"", largest, *text));
    return std::nullopt;
  }

  /// "12.8" of two labels; both or none.
  std::string two_numbers(std::string_view major, std::string_view minor) {
    constexpr unsigned largest = 9999;
    const auto first = number(major, largest);
    const auto second = number(minor, largest);
    if (first && second) return fmt::format("{}.{}", *first, *second);
    if (first || second)
      refuse(first ? minor : major, fmt::format("it is missing beside {}", first ? major : minor));
    return {};
  }

  void read_platform() {
    const std::string* const arch = label("kubernetes.io/arch");
    if (arch != nullptr && !node_.arch.empty() && *arch != node_.arch)
      refuse("kubernetes.io/arch",
             fmt::format("it is {}, and status.nodeInfo says {}", *arch, node_.arch));
    const std::string& word = arch != nullptr ? *arch : node_.arch;
    if (!word.empty()) {
      machine_.cpu.arch = parse_kubernetes_arch(word);
      machine_.cpu.machine = machine_.cpu.arch == Arch::other
                                 ? word
                                 : std::string(detect::render_arch(machine_.cpu.arch));
    }
    const std::string* const os = label("kubernetes.io/os");
    const std::string& system = os != nullptr ? *os : node_.system;
    if (system == "linux") machine_.os.system = "Linux";
    if (system == "windows") machine_.os.system = "Windows";
    machine_.os.kernel = node_.kernel;
    if (const std::string* kernel = label("feature.node.kubernetes.io/kernel-version.full");
        kernel != nullptr && machine_.os.kernel.empty())
      machine_.os.kernel = *kernel;
    machine_.os.name = node_.image;
  }

  void read_cpu() {
    constexpr std::string_view prefix = "feature.node.kubernetes.io/cpu-cpuid.";
    std::set<std::string_view> features;
    for (auto found = node_.labels.lower_bound(prefix);
         found != node_.labels.end() && found->first.starts_with(prefix); ++found) {
      const std::string_view name = std::string_view(found->first).substr(prefix.size());
      features.insert(name);
      const auto capability = capability_of_label(machine_.cpu.arch, name);
      if (!capability || found->second == "false") continue;
      machine_.cpu.capabilities.set(*capability, Presence::present);
      machine_.cpu.sources[std::string(detect::row(*capability).name)] = label_source;
    }
    if (machine_.cpu.arch != Arch::x86_64) return;
    for (unsigned level = detect::last_x86_64_level; level > 2; --level) {
      const auto wanted = level_labels(level);
      if (!std::ranges::all_of(wanted, [&](auto one) { return features.contains(one); })) continue;
      // What Node Feature Discovery hides is in every CPU with these.
      for (unsigned below = 1; below <= level; ++below)
        for (const detect::Capability one : detect::x86_64_level(below))
          machine_.cpu.capabilities.set(one, Presence::present);
      return;
    }
  }

  /// How many there are: a label, else what the device plugin offers, else one.
  unsigned gpu_count(std::string_view count_label, std::string_view resource) {
    if (const auto count = number(count_label, most_gpus)) return *count;
    const auto offered = node_.capacity.find(resource);
    if (offered == node_.capacity.end()) return 1;
    unsigned value = 0;
    const std::string& text = offered->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value <= most_gpus)
      return value;
    refuse(resource, fmt::format("expected a number up to {}, not \"{}\"", most_gpus, text));
    return 1;
  }

  void add_gpus(detect::Gpu gpu, unsigned count) {
    if (!gpu.arch.empty()) {
      gpu.sources["arch"] = label_source;
      gpu.usable = Presence::present;
      if (const auto nearest = nearest_arch(gpu.vendor, gpu.arch))
        refuse("its GPU", fmt::format("no GPU has the architecture {}", gpu.arch),
               fmt::format("nearest known: {}", *nearest));
    }
    machine_.gpus.insert(machine_.gpus.end(), count, gpu);
  }

  void read_nvidia() {
    const std::string arch =
        two_numbers("nvidia.com/gpu.compute.major", "nvidia.com/gpu.compute.minor");
    const std::string* const product = label("nvidia.com/gpu.product");
    if (arch.empty() && product == nullptr) return;
    detect::Gpu gpu;
    gpu.vendor = GpuVendor::nvidia;
    gpu.arch = arch;
    if (product != nullptr) {
      gpu.name = *product;
      std::ranges::replace(gpu.name, '-', ' ');
      gpu.mig = product->contains("-MIG-");
      if (const GpuModel* model = find_gpu_model_in(gpu.name);
          model != nullptr && gpu.arch.empty() && model->vendor == GpuVendor::nvidia)
        gpu.arch = model->arch;
    }
    constexpr unsigned most_mebibytes = 16U << 20;
    if (const auto mebibytes = number("nvidia.com/gpu.memory", most_mebibytes))
      gpu.memory_bytes = std::uint64_t{*mebibytes} << 20;
    add_gpus(std::move(gpu), gpu_count("nvidia.com/gpu.count", "nvidia.com/gpu"));
    read_nvidia_driver();
  }

  /// Newer versions of the feature discovery have both sets of labels.
  void read_nvidia_driver() {
    detect::Driver driver;
    driver.vendor = GpuVendor::nvidia;
    driver.usable = Presence::present;
    driver.api_source = label_source;
    if (const std::string* full = label("nvidia.com/cuda.driver-version.full"); full != nullptr) {
      driver.kernel_version = *full;
    } else {
      driver.kernel_version =
          two_numbers("nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor");
      const std::string* const revision = label("nvidia.com/cuda.driver.rev");
      if (revision != nullptr && !driver.kernel_version.empty())
        driver.kernel_version += "." + *revision;
    }
    driver.api_version =
        two_numbers("nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor");
    if (driver.api_version.empty())
      driver.api_version = two_numbers("nvidia.com/cuda.runtime-version.major",
                                       "nvidia.com/cuda.runtime-version.minor");
    if (driver.kernel_version.empty() && driver.api_version.empty()) return;
    if (const auto nearest = driver.kernel_version.empty()
                                 ? std::nullopt
                                 : nearest_driver(GpuVendor::nvidia, driver.kernel_version))
      return refuse("nvidia.com/cuda.driver",
                    fmt::format("no machine has the driver {}", driver.kernel_version),
                    fmt::format("nearest known: {}", *nearest));
    if (const auto nearest = driver.api_version.empty()
                                 ? std::nullopt
                                 : nearest_api(GpuVendor::nvidia, driver.api_version))
      return refuse("nvidia.com/cuda.runtime",
                    fmt::format("no driver runs CUDA {}", driver.api_version),
                    fmt::format("nearest known: {}", *nearest));
    if (driver.api_version.empty()) {
      driver.api_version = detect::cuda_of_driver(driver.kernel_version);
      driver.api_source = "driver-table";
    }
    if (driver.kernel_version.empty())
      driver.kernel_version = detect::first_driver_of_cuda(driver.api_version);
    machine_.drivers.push_back(std::move(driver));
  }

  /// The labeller's, and those that it had before they were stable.
  [[nodiscard]] const std::string* amd_label(std::string_view name) const {
    const std::string* const stable = label(fmt::format("amd.com/gpu.{}", name));
    return stable != nullptr ? stable : label(fmt::format("beta.amd.com/gpu.{}", name));
  }

  void read_amd() {
    const std::string* const id = amd_label("device-id");
    const std::string* const product = amd_label("product-name");
    if (id == nullptr && product == nullptr) return;
    detect::Gpu gpu;
    gpu.vendor = GpuVendor::amd;
    if (id != nullptr) gpu.arch = gfx_of_device(*id);
    if (product != nullptr) {
      gpu.name = *product;
      std::ranges::replace(gpu.name, '_', ' ');
      if (const GpuModel* model = find_gpu_model_in(gpu.name);
          model != nullptr && gpu.arch.empty() && model->vendor == GpuVendor::amd)
        gpu.arch = model->arch;
    }
    add_gpus(std::move(gpu), gpu_count("amd.com/gpu.count", "amd.com/gpu"));
    if (const std::string* version = amd_label("driver-version"); version != nullptr) {
      detect::Driver driver;
      driver.vendor = GpuVendor::amd;
      driver.kernel_version = *version;
      driver.usable = Presence::present;
      machine_.drivers.push_back(std::move(driver));
    }
  }

  void read_intel() {
    const std::string* const product = label("gpu.intel.com/product");
    if (product == nullptr) return;
    detect::Gpu gpu;
    gpu.vendor = GpuVendor::intel;
    gpu.name = *product;
    std::ranges::replace(gpu.name, '_', ' ');
    if (const GpuModel* model = find_gpu_model_in(gpu.name);
        model != nullptr && model->vendor == GpuVendor::intel)
      gpu.arch = model->arch;
    add_gpus(std::move(gpu), gpu_count("gpu.intel.com/device.count", "gpu.intel.com/i915"));
  }

  /// Without a feature discovery a cloud's own label tells the model.
  void read_cloud() {
    if (!machine_.gpus.empty()) return;
    for (const std::string_view name :
         {"cloud.google.com/gke-accelerator", "karpenter.k8s.aws/instance-gpu-name"}) {
      const std::string* const title = label(name);
      const GpuModel* const model = title == nullptr ? nullptr : find_gpu_model_in(*title);
      if (model == nullptr) continue;
      detect::Gpu gpu;
      gpu.vendor = model->vendor;
      gpu.name = model->title;
      gpu.arch = model->arch;
      return add_gpus(
          std::move(gpu),
          gpu_count("cloud.google.com/gke-accelerator-count",
                    model->vendor == GpuVendor::amd ? "amd.com/gpu" : "nvidia.com/gpu"));
    }
  }

  const NodeText& node_;
  std::string_view where_;
  Machine machine_;
  std::optional<Error> error_;
};

Labels read_texts(JsonObject& object) {
  Labels labels;
  object.keys([&](const std::string& key) {
    const JsonNode* const value = object.find(key);
    if (value != nullptr && value->kind == JsonNode::Kind::string) labels[key] = value->text;
  });
  return labels;
}

NodeText read_node(JsonObject& object) {
  NodeText node;
  if (object.text("kind") != "Node") object.refuse("kind", "expected \"Node\"");
  object.require("metadata");
  object.part("metadata", [&](JsonObject& metadata) {
    metadata.require("name");
    node.name = metadata.text("name");
    metadata.part("labels", [&](JsonObject& labels) { node.labels = read_texts(labels); });
  });
  object.part("status", [&](JsonObject& status) {
    status.part("capacity", [&](JsonObject& capacity) { node.capacity = read_texts(capacity); });
    status.part("nodeInfo", [&](JsonObject& info) {
      node.arch = info.text("architecture");
      node.system = info.text("operatingSystem");
      node.kernel = info.text("kernelVersion");
      node.image = info.text("osImage");
    });
  });
  return node;
}

}  // namespace

Result<std::vector<NodeKind>> parse_kubernetes_nodes(std::string_view json,
                                                     std::string_view where) {
  const std::string hint = "`kubectl get nodes -o json` writes such a file";
  auto root = documents::parse_json_tree(json, where, {.bytes = largest_node_list});
  if (!root) return std::unexpected(std::move(root).error());
  JsonReading reading(where, hint, {.most_items = 100'000, .unknown_keys = true});
  JsonObject object(*root, reading);
  std::vector<NodeText> nodes;
  if (object.has("items")) {
    object.each("items", [&](JsonObject& item) { nodes.push_back(read_node(item)); });
  } else {
    nodes.push_back(read_node(object));
  }
  if (reading.error()) return std::unexpected(*reading.error());
  if (nodes.empty())
    return fail(ErrorKind::not_found, fmt::format("{}: it has no node", where), hint);
  std::set<std::string_view> names;
  std::vector<NodeKind> kinds;
  for (const NodeText& node : nodes) {
    if (!names.insert(node.name).second)
      return fail(ErrorKind::malformed,
                  fmt::format("{}: two nodes are called {}", where, node.name), hint);
    auto machine = NodeFacts(node, where).read();
    if (!machine) return std::unexpected(std::move(machine).error());
    add_node(kinds, node.name, std::move(*machine));
  }
  return kinds;
}

}  // namespace axle::machines
