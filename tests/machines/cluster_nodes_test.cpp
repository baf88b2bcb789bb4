// Nodes of clusters as machines: what labels and features say, and nothing else.
#include "machines/cluster/cluster_nodes.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "machines/cluster/label_names.h"

namespace axle::machines {
namespace {

/// A node as the API writes it, with `labels` as members of a JSON object.
std::string node_json(const std::string& name, const std::string& labels,
                      const std::string& capacity = "") {
  return fmt::format(
      R"({{"apiVersion": "v1", "kind": "Node",
        "metadata": {{"name": "{}", "annotations": {{"a/b": "c"}}, "labels": {{{}}}}},
        "spec": {{"podCIDR": "10.0.0.0/24"}},
        "status": {{"capacity": {{"cpu": "96"{}}}, "conditions": [{{"type": "Ready", "status": "True"}}],
          "nodeInfo": {{"architecture": "amd64", "operatingSystem": "linux",
            "kernelVersion": "5.15.0-1053", "osImage": "Ubuntu 22.04.4 LTS"}}}}}})",
      name, labels, capacity);
}

std::string list_json(const std::string& items) {
  return R"({"apiVersion": "v1", "kind": "List", "items": [)" + items + "]}";
}

const std::string h100_labels = R"(
    "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
    "feature.node.kubernetes.io/cpu-cpuid.AVX2": "true", "feature.node.kubernetes.io/cpu-cpuid.FMA3": "true",
    "feature.node.kubernetes.io/cpu-cpuid.AVX512F": "true", "feature.node.kubernetes.io/cpu-cpuid.AVX512BW": "true",
    "feature.node.kubernetes.io/cpu-cpuid.AVX512CD": "true", "feature.node.kubernetes.io/cpu-cpuid.AVX512DQ": "true",
    "feature.node.kubernetes.io/cpu-cpuid.AVX512VL": "true", "feature.node.kubernetes.io/cpu-cpuid.AMXINT8": "true",
    "feature.node.kubernetes.io/cpu-model.vendor_id": "Intel",
    "nvidia.com/cuda.driver.major": "570", "nvidia.com/cuda.driver.minor": "124", "nvidia.com/cuda.driver.rev": "06",
    "nvidia.com/cuda.runtime.major": "12", "nvidia.com/cuda.runtime.minor": "8",
    "nvidia.com/gpu.compute.major": "9", "nvidia.com/gpu.compute.minor": "0", "nvidia.com/gpu.count": "8",
    "nvidia.com/gpu.family": "hopper", "nvidia.com/gpu.memory": "81559", "nvidia.com/gpu.present": "true",
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3")";

std::vector<NodeKind> kubernetes(const std::string& json) {
  auto kinds = parse_kubernetes_nodes(json, "nodes.json");
  REQUIRE_MESSAGE(kinds, kinds.error().message);
  return *kinds;
}

Error refused(const std::string& labels) {
  const auto kinds = parse_kubernetes_nodes(node_json("gpu-1", labels), "nodes.json");
  REQUIRE_FALSE(kinds);
  return kinds.error();
}

std::vector<NodeKind> slurm(const std::string& text) {
  auto kinds = parse_slurm_nodes(text, "nodes.txt");
  REQUIRE_MESSAGE(kinds, kinds.error().message);
  return *kinds;
}

Error refused_by_slurm(const std::string& text) {
  const auto kinds = parse_slurm_nodes(text, "nodes.txt");
  REQUIRE_FALSE(kinds);
  return kinds.error();
}

const std::string slurm_h100 =
    "NodeName=gpu01 Arch=x86_64 CoresPerSocket=48 \n"
    "   CPUAlloc=0 CPUEfctv=96 CPUTot=96 CPULoad=0.00\n"
    "   AvailableFeatures=x86-64-v4,cuda-12.8,rack=3\n"
    "   ActiveFeatures=x86-64-v4,cuda-12.8,rack=3\n"
    "   Gres=gpu:h100:4(S:0-1),shard:16(S:0,1)\n"
    "   NodeAddr=gpu01 NodeHostName=gpu01 Version=24.05.4\n"
    "   OS=Linux 5.14.0-427.13.1.el9_4.x86_64 #1 SMP PREEMPT_DYNAMIC Wed Apr 10 10:29:16 EDT 2024 "
    "\n"
    "   RealMemory=1031000 AllocMem=0 FreeMem=980000 Sockets=2 Boards=1\n"
    "   State=IDLE ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A\n"
    "   Partitions=gpu \n"
    "   CfgTRES=cpu=96,mem=1031000M,billing=96,gres/gpu=4,gres/gpu:h100=4\n"
    "   Reason=none of your business = really [root@2026-01-01T00:00:00]\n\n";

}  // namespace

TEST_CASE("the labels of NVIDIA's feature discovery are a machine") {
  const auto kinds = kubernetes(node_json("gpu-1", h100_labels));
  REQUIRE(kinds.size() == 1);
  const detect::Machine& machine = kinds[0].machine;
  CHECK(kinds[0].title() == "gpu-1");
  REQUIRE(machine.gpus.size() == 8);
  CHECK(machine.gpus[7].arch == "9.0");
  CHECK(machine.gpus[0].name == "NVIDIA H100 80GB HBM3");
  CHECK(machine.gpus[0].memory_bytes == std::uint64_t{81559} << 20);
  CHECK(machine.gpus[0].usable == detect::Presence::present);
  REQUIRE(machine.drivers.size() == 1);
  CHECK(machine.drivers[0].kernel_version == "570.124.06");
  CHECK(machine.drivers[0].api_version == "12.8");
  CHECK(machine.os.system == "Linux");
  CHECK(machine.os.kernel == "5.15.0-1053");
  CHECK(machine.libc.family.empty());
  CHECK(detect::highest_x86_64_level(machine.cpu.capabilities) == 4);
  CHECK(machine.cpu.capabilities.has(detect::Capability::amx_int8));
  CHECK(machine.cpu.capabilities.of(detect::Capability::amx_fp16) == detect::Presence::unknown);
}

TEST_CASE("newer labels of the driver, and a GPU by its product alone") {
  const auto kinds = kubernetes(node_json(
      "a",
      R"("nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "nvidia.com/cuda.driver-version.full": "580.65.06")"));
  const detect::Machine& machine = kinds[0].machine;
  REQUIRE(machine.gpus.size() == 1);
  CHECK(machine.gpus[0].arch == "8.0");
  CHECK(machine.gpus[0].mig);
  CHECK(machine.drivers[0].api_version == "13.0");
  CHECK(machine.drivers[0].api_source == "driver-table");
}

TEST_CASE("a product that nobody knows stays unknown") {
  const auto kinds = kubernetes(node_json("a", R"("nvidia.com/gpu.product": "NVIDIA-Z9000")"));
  REQUIRE(kinds[0].machine.gpus.size() == 1);
  CHECK(kinds[0].machine.gpus[0].arch.empty());
  CHECK(kinds[0].machine.gpus[0].usable == detect::Presence::unknown);
  CHECK(kinds[0].machine.drivers.empty());
}

TEST_CASE("AMD's and Intel's labels, and a cloud's") {
  auto kinds = kubernetes(node_json(
      "m",
      R"("amd.com/gpu.device-id": "74a1", "amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM",
              "amd.com/gpu.driver-version": "6.10.5", "amd.com/gpu.vram": "192G")",
      R"(, "amd.com/gpu": "8")"));
  REQUIRE(kinds[0].machine.gpus.size() == 8);
  CHECK(kinds[0].machine.gpus[0].arch == "gfx942");
  CHECK(kinds[0].machine.drivers[0].kernel_version == "6.10.5");
  CHECK(kinds[0].machine.drivers[0].api_version.empty());
  kinds = kubernetes(node_json("m", R"("beta.amd.com/gpu.product-name": "AMD_Instinct_MI210")"));
  CHECK(kinds[0].machine.gpus[0].arch == "gfx90a");
  kinds = kubernetes(
      node_json("i", R"("gpu.intel.com/product": "Max_1550", "gpu.intel.com/device.count": "2")"));
  REQUIRE(kinds[0].machine.gpus.size() == 2);
  CHECK(kinds[0].machine.gpus[0].vendor == detect::GpuVendor::intel);
  kinds = kubernetes(node_json("g", R"("cloud.google.com/gke-accelerator": "nvidia-tesla-t4")",
                               R"(, "nvidia.com/gpu": "4")"));
  REQUIRE(kinds[0].machine.gpus.size() == 4);
  CHECK(kinds[0].machine.gpus[0].arch == "7.5");
}

TEST_CASE("a list is a fleet, in which equal nodes are one machine") {
  const auto kinds = kubernetes(list_json(node_json("a", h100_labels) + "," + node_json("b", "") +
                                          "," + node_json("c", h100_labels)));
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[0].nodes == std::vector<std::string>{"a", "c"});
  CHECK(kinds[0].title() == "a and 1 more");
  CHECK(kinds[1].machine.gpus.empty());
  CHECK(detect::highest_x86_64_level(kinds[1].machine.cpu.capabilities) == 0);
}

TEST_CASE("labels that cannot be are refused with node and label") {
  Error error =
      refused(R"("nvidia.com/gpu.compute.major": "nine", "nvidia.com/gpu.compute.minor": "0")");
  CHECK(error.message ==
        "nodes.json: node gpu-1: nvidia.com/gpu.compute.major: expected a number up to 9999, not "
        "\"nine\"");
  CHECK(refused(R"("nvidia.com/gpu.compute.major": "9")")
            .message.contains(
                "nvidia.com/gpu.compute.minor: it is missing beside nvidia.com/gpu.compute.major"));
  error = refused(R"("nvidia.com/gpu.compute.major": "4", "nvidia.com/gpu.compute.minor": "4")");
  CHECK(error.message.contains("no GPU has the architecture 4.4"));
  CHECK(error.hint.starts_with("nearest known: "));
  CHECK(refused(R"("nvidia.com/gpu.product": "NVIDIA-H100", "nvidia.com/cuda.driver.major": "9000",
                   "nvidia.com/cuda.driver.minor": "1")")
            .message.contains("9000"));
  CHECK(refused(R"("nvidia.com/gpu.product": "NVIDIA-H100", "nvidia.com/gpu.count": "5000")")
            .message.contains("up to 1024"));
  CHECK(refused(R"("kubernetes.io/arch": "arm64")")
            .message.contains("it is arm64, and status.nodeInfo says amd64"));
}

TEST_CASE("what is no list of nodes says so") {
  const auto message = [](const std::string& json) {
    const auto kinds = parse_kubernetes_nodes(json, "nodes.json");
    REQUIRE_FALSE(kinds);
    return kinds.error().message;
  };
  CHECK(message("{").starts_with("nodes.json"));
  CHECK(message(list_json("")) == "nodes.json: it has no node");
  CHECK(message(R"({"apiVersion": "v1", "kind": "Pod"})").contains("expected \"Node\""));
  CHECK(message(list_json(R"({"kind": "Pod"})")).contains("items[0].kind"));
  CHECK(message(R"({"apiVersion": "v1", "kind": "Node", "metadata": {}})").contains("name"));
  CHECK(message(list_json(node_json("a", "") + "," + node_json("a", "")))
            .contains("two nodes are called a"));
}

TEST_CASE("scontrol's text is a machine") {
  const auto kinds = slurm(slurm_h100);
  REQUIRE(kinds.size() == 1);
  const detect::Machine& machine = kinds[0].machine;
  REQUIRE(machine.gpus.size() == 4);
  CHECK(machine.gpus[3].arch == "9.0");
  CHECK(machine.drivers[0].api_version == "12.8");
  CHECK(machine.os.kernel == "5.14.0-427.13.1.el9_4.x86_64");
  CHECK(detect::highest_x86_64_level(machine.cpu.capabilities) == 4);
}

TEST_CASE("several nodes, a line each, and GPUs that features tell") {
  const auto kinds = slurm(
      "NodeName=n1 Arch=x86_64 ActiveFeatures=sm_80 Gres=gpu:2 OS=Linux 6.1.0 #1 SMP State=IDLE\n"
      "NodeName=n2 Arch=x86_64 ActiveFeatures=(null) Gres=(null) OS=Linux 6.1.0 #1 SMP State=IDLE\n"
      "NodeName=n3 Arch=x86_64 ActiveFeatures=sm_80 Gres=gpu:2 OS=Linux 6.1.0 #1 SMP State=DOWN\n"
      "NodeName=n4 Arch=aarch64 ActiveFeatures=gfx942,big Gres=gpu:mi:1 OS=Linux 6.1.0 State=IDLE\n"
      "NodeName=n5 Arch=x86_64 Gres=gpu:nvidia_h100_80gb_hbm3:8(S:0-1) State=IDLE\n");
  REQUIRE(kinds.size() == 4);
  CHECK(kinds[0].nodes == std::vector<std::string>{"n1", "n3"});
  CHECK(kinds[0].machine.gpus.size() == 2);
  CHECK(kinds[0].machine.gpus[0].arch == "8.0");
  CHECK(kinds[1].machine.gpus.empty());
  CHECK(kinds[2].machine.gpus[0].arch == "gfx942");
  CHECK(kinds[2].machine.cpu.arch == detect::Arch::aarch64);
  CHECK(kinds[3].machine.gpus.size() == 8);
  CHECK(kinds[3].machine.gpus[0].arch == "9.0");
}

TEST_CASE("what scontrol does not say is an error, not no GPU") {
  Error error = refused_by_slurm("NodeName=n1 Arch=x86_64 Gres=gpu:4\n");
  CHECK(error.message == "nodes.txt:1: node n1: Gres: it has GPUs, and nothing says which");
  CHECK(error.hint.contains("gpu:h100:4"));
  CHECK(refused_by_slurm("NodeName=n1 Gres=gpu:zork:4")
            .message.contains("nothing is known of GPUs of the type zork"));
  CHECK(refused_by_slurm("NodeName=n1 Gres=gpu:h100:many")
            .message.contains("is not gpu:TYPE:NUMBER"));
  CHECK(refused_by_slurm("NodeName=n1 Gres=gpu:h100:99999")
            .message.contains("is not gpu:TYPE:NUMBER"));
  CHECK(refused_by_slurm("NodeName=n1\nNodeName=n1").message.contains("two nodes are called n1"));
  CHECK(refused_by_slurm("NodeName=\n").message.contains("without a name"));
  CHECK(refused_by_slurm("Node n1\n").message == "nodes.txt:1: expected NodeName=");
  error = refused_by_slurm("NodeName=n1 Arch=x86_64 ActiveFeatures=x86-64-v9\n");
  CHECK(error.message.contains("ActiveFeatures: x86-64-v9"));
}

TEST_CASE("each text is told from a profile") {
  CHECK(is_kubernetes_text(node_json("a", "")));
  CHECK_FALSE(is_kubernetes_text(R"({"schema": 2, "kind": "x"})"));
  CHECK(is_slurm_text("\nNodeName=a"));
  CHECK_FALSE(is_slurm_text("{}"));
}

TEST_CASE("a label names one capability, and a device one architecture") {
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    const std::string label = feature_label(row.id);
    if (label.empty()) continue;
    INFO(label);
    CHECK(capability_of_label(row.arch, label) == row.id);
  }
  CHECK(feature_label(detect::Capability::sse4_2).empty());
  CHECK(feature_label(detect::Capability::arm_sve2) == "SVE2");
  CHECK(gfx_of_device("74A1") == "gfx942");
  CHECK(gfx_of_device("ffff").empty());
  for (const std::string_view id : device_ids_of("gfx90a")) CHECK(gfx_of_device(id) == "gfx90a");
}

}  // namespace axle::machines
