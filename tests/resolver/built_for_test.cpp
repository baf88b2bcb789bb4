#include "resolver/family/built_for.h"

#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "index/family/shipped_families.h"
#include "tests/resolver/family_world.h"

namespace axle::resolver {
namespace {

using axle::testing::NvidiaWorld;
using axle::testing::Strings;
using axle::testing::version;
using axle::testing::WheelRecipe;
using axle::testing::World;
using detect::GpuVendor;

TEST_CASE("local versions say what a wheel was built for") {
  struct Row {
    const char* text;
    const char* torch;
    const char* vendor;
    const char* toolkit;
    std::optional<bool> cxx11_abi;
  };
  for (const Row& row :
       std::vector<Row>{{"2.8.3+cu12torch2.9cxx11abiTRUE", "2.9", "nvidia", "12", true},
                        {"2.8.3.post1+cu130torch2.10cxx11abiFALSE", "2.10", "nvidia", "13", false},
                        {"2.8.3+cu128torch2.10", "2.10", "nvidia", "12", {}},
                        {"2.1.2+pt29cu128", "2.9", "nvidia", "12", {}},
                        {"2.1.2+pt210cpu", "2.10", "cpu", "", {}},
                        {"0.21.5+torch2100cu130", "2.10", "nvidia", "13", {}},
                        {"0.17.5+torch260cu126", "2.6", "nvidia", "12", {}},
                        {"1.0+torch2.10.0cu128", "2.10", "nvidia", "12", {}},
                        {"1.0+cu118.torch2.4", "2.4", "nvidia", "11", {}},
                        {"1.0+pt2.8.cu126", "2.8", "nvidia", "12", {}},
                        {"1.24.4+cuda12.8.torch2.7.1", "2.7", "nvidia", "12", {}},
                        {"1.0+rocm6.4torch2.9", "2.9", "amd", "6.4", {}},
                        {"0.30.0+rocm700", "", "amd", "7.0", {}},
                        {"0.30.0+cu129", "", "nvidia", "12", {}},
                        {"1.0+xpu.torch2.8", "2.8", "intel", "", {}}}) {
    const auto built = parse_built_for(version(row.text));
    REQUIRE_MESSAGE(built.has_value(), row.text);
    CHECK_MESSAGE(built->torch == row.torch, row.text);
    CHECK_MESSAGE(built->vendor == row.vendor, row.text);
    CHECK_MESSAGE(built->toolkit == row.toolkit, row.text);
    CHECK_MESSAGE(built->cxx11_abi == row.cxx11_abi, row.text);
  }
  for (const char* text : {"1.0", "1.0+opt12", "1.0+torch", "1.0+pt", "1.0+pt9", "1.0+cpu",
                           "1.0+xpu", "1.0+cu1", "1.0+torch99999999999999999999.1", "1.0+torch2",
                           "1.0+torchx2.9", "1.0+deb12u1", "1.0+ubuntu1"})
    CHECK_FALSE_MESSAGE(parse_built_for(version(text)).has_value(), text);
}

/// torch as published for Linux on x86-64, with the bundled family, and flash-attn's releases.
struct TorchWorld : NvidiaWorld {
  explicit TorchWorld(const std::string& sm = "9.0", const std::string& cuda = "13.0")
      : NvidiaWorld(sm, cuda) {
    const auto torch =
        std::ranges::find(index::shipped_families(), "torch", &index::ShippedFamily::name);
    REQUIRE(families.add_file(torch->toml, "torch.toml"));
    const std::vector<std::pair<const char*, Strings>> releases = {
        {"2.5.1", {"cpu", "cu118", "cu124"}},
        {"2.6.0", {"cpu", "cu118", "cu124", "cu126"}},
        {"2.8.0", {"cpu", "cu126", "cu128"}},
        {"2.9.1", {"cpu", "cu126", "cu128", "cu130"}},
        {"2.10.0", {"cpu", "cu126", "cu128", "cu130"}},
        {"2.11.0", {"cpu", "cu126", "cu128", "cu130"}},
        {"2.14.1", {"cpu", "cu126", "cu130"}},
        {"2.15.0", {"cpu", "cu130", "cu132"}}};
    for (const auto& [at, labels] : releases) {
      for (const std::string& label : labels) put_torch(at, label);
    }
  }

  void put_torch(const std::string& at, const std::string& label) {
    WheelRecipe recipe{.name = "torch", .version = at + "+" + label};
    recipe.tags = axle::testing::tags;
    index.add_wheel_at("https://download.pytorch.org/whl", recipe);
  }

  void put(const std::string& name, const std::string& at, const Strings& needs = {"torch"},
           const std::string& tags = "cp311-cp311-linux_x86_64") {
    WheelRecipe recipe{.name = name, .version = at, .requires_dist = needs};
    recipe.tags = tags;
    index.add_wheel(recipe);
  }

  void put_flash_attn(const std::string& at, const Strings& builds) {
    for (const std::string& build : builds) put("flash_attn", at + "+" + build);
  }
};

TEST_CASE("flash-attn alone takes the newest torch that it has a build for") {
  TorchWorld world;
  world.put_flash_attn("2.8.3", {"cu12torch2.8cxx11abitrue", "cu12torch2.9cxx11abitrue",
                                 "cu12torch2.10cxx11abitrue", "cu12torch2.11cxx11abitrue"});
  world.put_flash_attn("2.8.2", {"cu12torch2.8cxx11abitrue"});
  const Strings best{"flash-attn 2.8.3+cu12torch2.11cxx11abitrue", "torch 2.11.0+cu128[cu128]"};
  CHECK(world.resolve({"flash-attn"}) == best);
  CHECK(world.remarked("torch 2.11.0+cu128 is chosen, not 2.15.0"));
  CHECK(world.remarked("torch 2.11 for CUDA 12 with the C++11 ABI (required by flash-attn 2.8.3"));
  // Nothing is read of builds for other releases of torch.
  CHECK(std::ranges::count_if(world.index.fetched, [](const std::string& file) {
          return file.contains("flash_attn") && !file.contains("torch2.11");
        }) == 0);
  CHECK(world.resolve({"torch", "flash-attn"}) == best);
  CHECK(world.resolve({"flash-attn", "torch<2.11"}) ==
        Strings{"flash-attn 2.8.3+cu12torch2.10cxx11abitrue", "torch 2.10.0+cu128[cu128]"});
  CHECK(world.resolve({"flash-attn", "torch==2.9.*"}) ==
        Strings{"flash-attn 2.8.3+cu12torch2.9cxx11abitrue", "torch 2.9.1+cu128[cu128]"});
  CHECK(world.resolve({"flash-attn==2.8.2"}) ==
        Strings{"flash-attn 2.8.2+cu12torch2.8cxx11abitrue", "torch 2.8.0+cu128[cu128]"});
  const auto error = world.error({"flash-attn", "torch==2.15.*"});
  CHECK(error.kind == ErrorKind::conflict);
  CHECK_MESSAGE(error.message.contains("torch 2.11 for CUDA 12 with the C++11 ABI"), error.message);
}

TEST_CASE("of builds for several majors of CUDA the one for the best torch is taken") {
  TorchWorld world;
  world.put_flash_attn("2.8.3", {"cu12torch2.11cxx11abitrue", "cu13torch2.11cxx11abitrue",
                                 "cu12torch2.14cxx11abitrue"});
  CHECK(world.resolve({"flash-attn"}) ==
        Strings{"flash-attn 2.8.3+cu12torch2.14cxx11abitrue", "torch 2.14.1+cu126[cu126]"});
  CHECK(world.resolve({"flash-attn", "torch<2.14"}) ==
        Strings{"flash-attn 2.8.3+cu13torch2.11cxx11abitrue", "torch 2.11.0+cu130[cu130]"});
  TorchWorld old_driver("9.0", "12.4");
  old_driver.put_flash_attn("2.8.3", {"cu12torch2.11cxx11abitrue", "cu13torch2.11cxx11abitrue"});
  CHECK(old_driver.resolve({"flash-attn"}) ==
        Strings{"flash-attn 2.8.3+cu12torch2.11cxx11abitrue", "torch 2.11.0+cu128[cu128]"});
}

TEST_CASE("the C++ ABI of torch's builds decides between two builds") {
  TorchWorld world;
  world.put_flash_attn("2.7.4", {"cu12torch2.5cxx11abitrue", "cu12torch2.5cxx11abifalse",
                                 "cu12torch2.6cxx11abitrue", "cu12torch2.6cxx11abifalse"});
  CHECK(world.resolve({"flash-attn", "torch==2.5.*"}) ==
        Strings{"flash-attn 2.7.4+cu12torch2.5cxx11abifalse", "torch 2.5.1+cu124[cu124]"});
  CHECK(world.resolve({"flash-attn", "torch==2.6.0+cu124"}) ==
        Strings{"flash-attn 2.7.4+cu12torch2.6cxx11abifalse", "torch 2.6.0+cu124[cu124]"});
  CHECK(world.resolve({"flash-attn", "torch==2.6.0+cu126"}) ==
        Strings{"flash-attn 2.7.4+cu12torch2.6cxx11abitrue", "torch 2.6.0+cu126[cu126]"});
}

TEST_CASE("a build for the torch that is installed is taken, and torch stays") {
  TorchWorld world;
  world.put_flash_attn("2.8.3", {"cu12torch2.10cxx11abitrue", "cu12torch2.11cxx11abitrue"});
  world.put_flash_attn("2.8.2", {"cu12torch2.8cxx11abitrue"});
  world.install("torch", "2.10.0+cu128");
  CHECK(world.resolve({"flash-attn"}) ==
        Strings{"flash-attn 2.8.3+cu12torch2.10cxx11abitrue", "=torch 2.10.0+cu128"});
  // Rather an older version than another torch.
  world.installed[0].version = version("2.8.0+cu128");
  CHECK(world.resolve({"flash-attn"}) ==
        Strings{"flash-attn 2.8.2+cu12torch2.8cxx11abitrue", "=torch 2.8.0+cu128"});
  // There is none for it: torch goes back, and keeps its backend.
  world.installed[0].version = version("2.14.1+cu126");
  CHECK(world.resolve({"flash-attn"}) ==
        Strings{"flash-attn 2.8.3+cu12torch2.11cxx11abitrue", "torch 2.11.0+cu126[cu126]"});
  // Its backend is not changed unasked.
  world.installed[0].version = version("2.11.0+cu130");
  const auto refused = world.error({"flash-attn"});
  CHECK_MESSAGE(refused.message.contains("cu130"), refused.message);
  CHECK_FALSE(refused.changes.empty());
  // What is installed already and suits stays.
  world.installed[0].version = version("2.10.0+cu128");
  world.install("flash-attn", "2.8.3+cu12torch2.10cxx11abitrue", {"torch"});
  CHECK(world.resolve({"flash-attn"}) ==
        Strings{"=flash-attn 2.8.3+cu12torch2.10cxx11abitrue", "=torch 2.10.0+cu128"});
}

TEST_CASE("without dependencies only what is there counts") {
  TorchWorld world;
  world.put_flash_attn("2.8.3", {"cu12torch2.10cxx11abitrue", "cu12torch2.9cxx11abitrue"});
  world.options.dependencies = false;
  CHECK(world.resolve({"flash-attn"}) == Strings{"flash-attn 2.8.3+cu12torch2.9cxx11abitrue"});
  world.install("torch", "2.10.0+cu128");
  CHECK(world.resolve({"flash-attn"}) == Strings{"flash-attn 2.8.3+cu12torch2.10cxx11abitrue"});
}

TEST_CASE("wheels that do not require torch bring none in, and go with the one that is there") {
  TorchWorld world;
  for (const char* build : {"pt210cpu", "pt210cu128", "pt29cu128", "pt28cu128"})
    world.put("torch_scatter", std::string("2.1.2+") + build, {});
  CHECK(world.resolve({"torch-scatter"}) == Strings{"torch-scatter 2.1.2+pt210cu128"});
  CHECK(world.resolve({"torch-scatter", "torch==2.9.*"}) ==
        Strings{"torch 2.9.1+cu128[cu128]", "torch-scatter 2.1.2+pt29cu128"});
  world.install("torch", "2.8.0+cu128");
  CHECK(world.resolve({"torch-scatter"}) == Strings{"torch-scatter 2.1.2+pt28cu128"});
  world.installed[0].version = version("2.11.0+cu128");
  const auto none = world.error({"torch-scatter"});
  CHECK_MESSAGE(none.message.contains("and torch 2.11.0+cu128 is installed"), none.message);
  world.installed[0].version = version("2.10.0+cpu");
  CHECK(world.resolve({"torch-scatter"}) == Strings{"torch-scatter 2.1.2+pt210cpu"});
}

TEST_CASE("vllm, xformers and flash-attn agree on one torch") {
  TorchWorld world;
  world.put_flash_attn("2.8.3", {"cu12torch2.8cxx11abitrue", "cu12torch2.9cxx11abitrue",
                                 "cu12torch2.10cxx11abitrue"});
  const char* abi3 = "cp38-abi3-manylinux_2_28_x86_64";
  world.put("vllm", "0.14.1", {"torch==2.9.1"}, abi3);
  world.put("vllm", "0.17.0", {"torch==2.10.0"}, abi3);
  world.put("vllm", "0.20.0", {"torch==2.11.0"}, abi3);
  world.put("xformers", "0.0.33", {"torch==2.9.1"}, abi3);
  world.put("xformers", "0.0.35", {"torch==2.10.0"}, abi3);
  const Strings both{"flash-attn 2.8.3+cu12torch2.10cxx11abitrue", "torch 2.10.0+cu128[cu128]",
                     "vllm 0.17.0"};
  CHECK(world.resolve({"vllm", "flash-attn"}) == both);
  CHECK(world.resolve({"flash-attn", "vllm"}) == both);
  CHECK(world.resolve({"xformers", "torch==2.9.*"}) ==
        Strings{"torch 2.9.1+cu130[cu130]", "xformers 0.0.33"});
  CHECK(world.resolve({"xformers", "flash-attn", "vllm<0.17"}) ==
        Strings{"flash-attn 2.8.3+cu12torch2.9cxx11abitrue", "torch 2.9.1+cu128[cu128]",
                "vllm 0.14.1", "xformers 0.0.33"});
}

TEST_CASE("a local version that names a backend alone speaks of the torch that is required") {
  TorchWorld world;
  world.put("vllm", "0.20.0+cu129", {"torch==2.11.0"}, "cp38-abi3-manylinux_2_28_x86_64");
  CHECK(world.resolve({"vllm"}) == Strings{"torch 2.11.0+cu128[cu128]", "vllm 0.20.0+cu129"});
  world.put("tool", "1.0+cu118", {}, "py3-none-any");
  // Where torch is not required, the GPU libraries of both are a mixture, which pins ask for.
  CHECK(world.error({"tool", "torch==2.15.*"}).message.contains("tool 1.0+cu118 is for CUDA 11"));
  CHECK(world.resolve({"tool==1.0", "torch==2.15.*"}) ==
        Strings{"tool 1.0+cu118", "torch 2.15.0+cu132[cu132]"});
}

}  // namespace
}  // namespace axle::resolver
