// Which of several GPUs count.

#include "providers/gpu_policy.h"

#include <doctest/doctest.h>

#include "providers/gpu_archs.h"
#include "providers/provider.h"
#include "tests/providers/machines.h"

namespace axle::providers {
namespace {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;
using testing::nvidia_machine;
using testing::working_gpu;

using Strings = std::vector<std::string>;

GpuPolicy policy(std::string_view text) {
  const auto parsed = parse_gpu_policy(text);
  REQUIRE_MESSAGE(parsed.has_value(), text);
  return *parsed;
}

/// Each GPU of four, with name and place on the bus; the list is not in bus order.
Machine four_gpus() {
  Machine machine;
  const auto add = [&](GpuVendor vendor, const char* arch, const char* name, const char* address) {
    Gpu& gpu = machine.gpus.emplace_back(working_gpu(vendor, arch));
    gpu.name = name;
    gpu.pci_address = address;
  };
  add(GpuVendor::nvidia, "12.0", "NVIDIA GeForce RTX 5090", "0000:65:00.0");
  add(GpuVendor::nvidia, "7.5", "NVIDIA GeForce RTX 2080 Ti", "0000:17:00.0");
  add(GpuVendor::amd, "gfx1100", "AMD Radeon RX 7900 XTX", "0000:03:00.0");
  add(GpuVendor::amd, "gfx1036", "AMD Raphael graphics", "0000:0e:00.0");
  return machine;
}

Strings counted(const Machine& machine, GpuVendor vendor, std::string_view text) {
  Strings archs;
  for (const Gpu* gpu : counted_gpus(machine, vendor, policy(text))) archs.push_back(gpu->arch);
  return archs;
}

TEST_CASE("a policy is one of four words, and is written as it is read") {
  for (const char* text :
       {"all", "any", "first", "device=0", "device=0,2", "device=amd:1,0000:65:00.0,rtx 5090"}) {
    CHECK(render_gpu_policy(policy(text)) == text);
  }
  CHECK(policy("device= 0 , 2 ").devices == Strings{"0", "2"});
  CHECK(policy("all") == GpuPolicy{});
  for (const char* text :
       {"", "ALL", "every", "device", "device=", "device=0,", "device=,0", "all "})
    CHECK_FALSE_MESSAGE(parse_gpu_policy(text).has_value(), text);
}

TEST_CASE("all counts every working GPU, the newest first, and no graphics unit beside a card") {
  const Machine machine = four_gpus();
  CHECK(counted(machine, GpuVendor::nvidia, "all") == Strings{"12.0", "7.5"});
  CHECK(counted(machine, GpuVendor::amd, "all") == Strings{"gfx1100"});
  CHECK(counted(machine, GpuVendor::amd, "any") == Strings{"gfx1100", "gfx1036"});
  CHECK(counted(machine, GpuVendor::intel, "all").empty());
  Machine alone = machine;
  std::erase_if(alone.gpus, [](const Gpu& gpu) { return gpu.arch == "gfx1100"; });
  CHECK(counted(alone, GpuVendor::amd, "all") == Strings{"gfx1036"});
}

TEST_CASE("first is the first of each vendor on the bus, a card where there is one") {
  Machine machine = four_gpus();
  CHECK(counted(machine, GpuVendor::nvidia, "first") == Strings{"7.5"});
  CHECK(counted(machine, GpuVendor::amd, "first") == Strings{"gfx1100"});
  machine.gpus[2].pci_address = "0000:81:00.0";
  CHECK(counted(machine, GpuVendor::amd, "first") == Strings{"gfx1100"});
  machine.gpus[1].masked = true;
  CHECK(counted(machine, GpuVendor::nvidia, "first") == Strings{"12.0"});
  machine.gpus[0].usable = detect::Presence::blocked;
  CHECK(counted(machine, GpuVendor::nvidia, "first").empty());
}

TEST_CASE("a device is named by number, PCI address or name") {
  const Machine machine = four_gpus();
  CHECK(counted(machine, GpuVendor::nvidia, "device=0") == Strings{"7.5"});
  CHECK(counted(machine, GpuVendor::nvidia, "device=1") == Strings{"12.0"});
  CHECK(counted(machine, GpuVendor::nvidia, "device=0,1") == Strings{"12.0", "7.5"});
  CHECK(counted(machine, GpuVendor::amd, "device=1") == Strings{"gfx1036"});
  CHECK(counted(machine, GpuVendor::amd, "device=nvidia:1").empty());
  CHECK(counted(machine, GpuVendor::nvidia, "device=nvidia:1") == Strings{"12.0"});
  CHECK(counted(machine, GpuVendor::nvidia, "device=0000:65:00.0") == Strings{"12.0"});
  CHECK(counted(machine, GpuVendor::nvidia, "device=65:00.0") == Strings{"12.0"});
  CHECK(counted(machine, GpuVendor::nvidia, "device=00000000:65:00.0") == Strings{"12.0"});
  CHECK(counted(machine, GpuVendor::amd, "device=0:0E:00.0") == Strings{"gfx1036"});
  CHECK(counted(machine, GpuVendor::nvidia, "device=nvidia:0000:65:00.0") == Strings{"12.0"});
  CHECK(counted(machine, GpuVendor::nvidia, "device=0001:65:00.0").empty());
  CHECK(counted(machine, GpuVendor::nvidia, "device=:").empty());
  CHECK(counted(machine, GpuVendor::nvidia, "device=rtx2080") == Strings{"7.5"});
  CHECK(counted(machine, GpuVendor::nvidia, "device=NVIDIA GeForce RTX 5090") == Strings{"12.0"});
  CHECK(counted(machine, GpuVendor::amd, "device=nvidia:rtx2080").empty());
  CHECK(counted(machine, GpuVendor::amd, "device=-").empty());
  std::string endless = "device=";
  for (int i = 0; i < 100'000; ++i) endless += "nvidia:";
  CHECK(counted(machine, GpuVendor::nvidia, endless + "0").empty());
}

TEST_CASE("unknown devices are reported") {
  const Machine machine = four_gpus();
  CHECK(unknown_devices(machine, policy("device=0,1,65:00.0,amd:1,raphael")).empty());
  CHECK(unknown_devices(machine, policy("device=2,amd:2,66:00.0,h100,0000:65:00.1,intel:0")) ==
        Strings{"2", "amd:2", "66:00.0", "h100", "0000:65:00.1", "intel:0"});
  CHECK(unknown_devices(machine, GpuPolicy{}).empty());
}

TEST_CASE("named devices that do not count are reported with the reason") {
  using Idle = std::vector<std::pair<std::string, Fact>>;
  Machine machine = four_gpus();
  CHECK(idle_devices(machine, policy("device=0,raphael")).empty());
  machine.gpus[1].masked = true;
  machine.gpus[3].usable = detect::Presence::blocked;
  machine.gpus[3].reason = "no render node";
  machine.gpus[3].reason_code = "no-render-node";
  machine.gpus[2].usable = detect::Presence::unknown;
  const Fact no_node{
      FactCode::device_unusable, "AMD Raphael graphics", {}, {"no render node"}, "no-render-node"};
  CHECK(idle_devices(machine, policy("device=nvidia:0,nvidia:1,amd:1,7900,0e:00.0,9")) ==
        Idle{{"nvidia:0", {FactCode::gpu_masked, "NVIDIA GeForce RTX 2080 Ti"}},
             {"amd:1", no_node},
             {"0e:00.0", no_node}});
  CHECK(idle_devices(machine, policy("device=xtx")) ==
        Idle{{"xtx", {FactCode::device_unknown, "AMD Radeon RX 7900 XTX"}}});
  CHECK(idle_devices(machine, policy("all")).empty());
}

TEST_CASE("lists are joined in the order of the first GPU that has the value") {
  const std::vector<Strings> lists{{"a", "b", "c"}, {"d", "c", "b"}};
  CHECK(join_lists(policy("all"), lists) == Strings{"b", "c"});
  CHECK(join_lists(policy("device=0,1"), lists) == Strings{"b", "c"});
  CHECK(join_lists(policy("any"), lists) == Strings{"a", "b", "c", "d"});
  CHECK(join_lists(policy("all"), {{"a"}, {}}).empty());
  CHECK(join_lists(policy("all"), {}).empty());
}

TEST_CASE("views: every counted architecture in one, the newest first, one GPU a vendor") {
  const Machine machine = four_gpus();
  const auto views = device_views(machine, policy("all"));
  REQUIRE(views.size() == 2);
  CHECK(counted(views[0], GpuVendor::nvidia, "any") == Strings{"12.0"});
  CHECK(counted(views[1], GpuVendor::nvidia, "any") == Strings{"7.5"});
  CHECK(counted(views[0], GpuVendor::amd, "any") == Strings{"gfx1100"});
  CHECK(counted(views[1], GpuVendor::amd, "any") == Strings{"gfx1100"});
  CHECK(device_views(machine, policy("any")).empty());
  CHECK(device_views(machine, policy("first")).empty());
  CHECK(device_views(machine, policy("device=1")).empty());
  CHECK(device_views(machine, policy("device=nvidia:0,nvidia:1")).size() == 2);
  CHECK(device_views(nvidia_machine("12.8", {"9.0", "9.0"}), policy("all")).empty());
}

TEST_CASE("the policy matters where GPUs differ or one is left out") {
  const Machine machine = four_gpus();
  CHECK(policy_matters(machine, policy("all")));
  CHECK(policy_matters(machine, policy("any")));
  const Machine alike = nvidia_machine("12.8", {"9.0", "9.0"});
  CHECK_FALSE(policy_matters(alike, policy("all")));
  CHECK_FALSE(policy_matters(alike, policy("any")));
  CHECK(policy_matters(alike, policy("first")));
  CHECK_FALSE(policy_matters(Machine{}, policy("all")));
}

TEST_CASE("a GPU of unknown architecture runs nothing, so there is no code for all GPUs") {
  const Machine machine = nvidia_machine("12.8", {"9.0", ""});
  CHECK(find_provider("nvidia")->supported(machine, {}).size() == 2);
  CHECK(find_provider("nvidia")->supported(machine, policy("any")).size() == 3);
  CHECK(render_facts(find_provider("nvidia")->facts(machine, {}, "sm_arch", "90_real")) ==
        "the GPUs have compute capability 9.0 and an unknown one (every GPU must run it), and the "
        "build has compiled code for 9.0");
}

TEST_CASE("excluded GPUs are reported") {
  const Machine machine = four_gpus();
  const Provider& amd = *find_provider("amd");
  CHECK(render_facts(amd.facts(machine, {}, "gfx_arch", "gfx1036")) ==
        "the GPU is gfx1100 (the integrated GPU next to it, AMD Raphael graphics, does not count), "
        "and the build has code for gfx1036");
  CHECK(render_facts(amd.facts(machine, policy("device=amd:1"), "gfx_arch", "gfx1100")) ==
        "the GPU is gfx1036 (excluded by --gpu-policy device=amd:1: AMD Radeon RX 7900 XTX), and "
        "the build has code for gfx1100");
  CHECK(render_facts(amd.facts(machine, policy("device=nvidia:0"), "gfx_arch", "gfx1100")) ==
        "AMD GPU present but excluded by --gpu-policy device=nvidia:0");
  CHECK(render_facts(
            find_provider("axle")->facts(machine, policy("device=amd:0"), "gpu", "nvidia")) ==
        "NVIDIA GPU present but excluded by --gpu-policy device=amd:0");
}

TEST_CASE("integrated GPUs are recognised by their architecture if the driver does not report it") {
  for (const char* arch : {"gfx90c", "gfx1036", "gfx1103", "gfx1151"})
    CHECK(is_integrated(working_gpu(GpuVendor::amd, arch)));
  for (const char* arch : {"gfx942", "gfx1030", "gfx1100", "gfx1201", "", "gfx"})
    CHECK_FALSE(is_integrated(working_gpu(GpuVendor::amd, arch)));
  for (const char* arch : {"12.0.0", "12.2.0", "12.70.4", "20.4.4", "30.0.4", "35.10.4"})
    CHECK(is_integrated(working_gpu(GpuVendor::intel, arch)));
  for (const char* arch : {"12.10.0", "12.55.8", "12.60.7", "20.1.0", "35.11.0", ""})
    CHECK_FALSE(is_integrated(working_gpu(GpuVendor::intel, arch)));
}

}  // namespace
}  // namespace axle::providers
