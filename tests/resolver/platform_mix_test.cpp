// One GPU platform for all packages of a solution.

#include <doctest/doctest.h>

#include "resolver/family/gpu_platform.h"
#include "tests/index/family_text.h"
#include "tests/resolver/family_world.h"

using axle::ErrorKind;
using axle::resolver::gpu_platform;
using axle::resolver::gpu_platform_of_name;
using axle::testing::NvidiaWorld;
using axle::testing::Strings;
using axle::testing::version;

namespace {

/// acme 2.1 has CUDA 13, acme 2.0 CUDA 12 as well, in this machine's order.
struct MixedWorld : NvidiaWorld {
  MixedWorld() {
    index.add_wheel({.name = "kernels_cuda12x", .version = "1.0"});
    index.add_wheel({.name = "kernels_cuda13x", .version = "1.0"});
    index.add_wheel({.name = "nvidia_blas_cu12", .version = "12.8"});
    index.add_wheel(
        {.name = "app", .version = "1.0", .requires_dist = {"acme", "nvidia-blas-cu12"}});
    index.add_wheel({.name = "new", .version = "1.0", .requires_dist = {"acme>=2.1"}});
    index.add_wheel({.name = "old", .version = "1.0", .requires_dist = {"kernels-cuda12x"}});
  }
};

}  // namespace

TEST_CASE("names, local versions and labels say which GPU libraries a build needs") {
  for (const auto& [name, platform] :
       {std::pair("nvidia-cublas-cu12", "CUDA 12"), std::pair("cupy-cuda13x", "CUDA 13"),
        std::pair("cupy-cuda102", "CUDA 10"), std::pair("faiss-cuda-cu128", "CUDA 12"),
        std::pair("jax-cuda12-plugin", "CUDA 12"), std::pair("tensorrt-cu13-libs", "CUDA 13"),
        std::pair("jax-rocm60-plugin", "ROCm 6"), std::pair("cupy-rocm-5-0", "ROCm 5"),
        std::pair("torch", ""), std::pair("cuda-toolkit", ""), std::pair("cu2", ""),
        std::pair("onnxruntime-rocm", ""), std::pair("cufflinks", "")}) {
    CAPTURE(name);
    CHECK(gpu_platform_of_name(name) == platform);
  }
  const auto of = [](const char* name, const char* at) {
    return gpu_platform(name, version(at), nullptr);
  };
  CHECK(of("flash-attn", "2.8.3+cu12torch2.9cxx11abitrue") == "CUDA 12");
  CHECK(of("vllm", "0.18+cu129") == "CUDA 12");
  CHECK(of("x", "1.0+rocm7.2") == "ROCm 7");
  CHECK(of("x", "1.0+cpu") == "");
  CHECK(of("cuda-toolkit", "13.0.2") == "CUDA 13");
  CHECK(of("nvidia-cuda-runtime", "0.0.1") == "");
  const auto backend = [](const char* name, const char* at) {
    return axle::resolver::gpu_backend(name, version(at));
  };
  CHECK(backend("tensorflow-rocm", "2.18") == "ROCm");
  CHECK(backend("x", "1.0+xpu") == "XPU");
  CHECK(backend("x", "1.0+rocm.torch2.9") == "ROCm");
  CHECK(backend("faiss-cuda", "1.0") == "CUDA");
  CHECK(backend("x", "1.0+cpu") == "");
  CHECK(backend("microcuda", "1.0+xpux") == "");
  axle::index::FamilyLabel label;
  label.vendor = "nvidia";
  label.toolkit = "12.6";
  CHECK(gpu_platform("torch", version("2.15+cu130"), &label) == "CUDA 12");
  label.vendor = "";
  CHECK(gpu_platform("torch", version("2.15+cpu"), &label) == "");
}

TEST_CASE("an older release of the platform that the others need comes before a mixture") {
  for (const Strings& asked :
       {Strings{"acme", "kernels-cuda12x"}, Strings{"kernels-cuda12x", "acme"}}) {
    MixedWorld world;
    CHECK(world.resolve(asked) == Strings{"acme 2.0+cu126[cu126]", "kernels-cuda12x 1.0"});
    CHECK(world.remarked("acme 2.0+cu126 is chosen, not 2.1"));
    CHECK(world.remarked("kernels-cuda12x 1.0 is for CUDA 12, acme 2.1+cu130 is for CUDA 13"));
  }
  MixedWorld world;
  CHECK(world.resolve({"acme", "kernels-cuda13x"}) ==
        Strings{"acme 2.1+cu130[cu130]", "kernels-cuda13x 1.0"});
  CHECK(world.resolve({"app"}) ==
        Strings{"acme 2.0+cu126[cu126]", "app 1.0", "nvidia-blas-cu12 12.8"});
}

TEST_CASE("a mixture is refused with the platforms, and taken where the user asks for both") {
  MixedWorld world;
  const auto refused = world.error({"new", "old"});
  CHECK(refused.kind == ErrorKind::conflict);
  CHECK_MESSAGE(refused.message.contains("acme 2.1+cu130 is for CUDA 13"), refused.message);
  CHECK_MESSAGE(refused.message.contains("kernels-cuda12x 1.0 is for CUDA 12"), refused.message);
  CHECK(refused.hint.contains("pin"));
  CHECK(world.resolve({"acme==2.1", "kernels-cuda12x"}) ==
        Strings{"acme 2.1+cu130[cu130]", "kernels-cuda12x 1.0"});
  CHECK(world.remarked("acme 2.1+cu130 is for CUDA 13"));
  CHECK(world.resolve({"kernels-cuda13x", "kernels-cuda12x"}).size() == 2);
}

TEST_CASE("a build for CPUs goes with any platform, and is not taken to avoid a mixture") {
  axle::testing::FamilyWorld none;
  none.index.add_wheel({.name = "kernels_cuda12x", .version = "1.0"});
  CHECK(none.resolve({"acme", "kernels-cuda12x"}) ==
        Strings{"acme 2.1+cpu[cpu]", "kernels-cuda12x 1.0"});
  MixedWorld world;
  world.options.forced_labels["acme"] = "cpu";
  CHECK(world.resolve({"acme", "kernels-cuda12x"}) ==
        Strings{"acme 2.1+cpu[cpu]", "kernels-cuda12x 1.0"});
}

TEST_CASE("a solution of two packages for unlike platforms that nobody needs together is none") {
  MixedWorld world;
  CHECK(world.error({"old", "new", "app"}).kind == ErrorKind::conflict);
}

TEST_CASE("what is installed and no part of the solution counts as well") {
  MixedWorld world;
  world.index.add_wheel({.name = "tool", .version = "1.0"});
  world.index.add_wheel({.name = "tool", .version = "2.0", .requires_dist = {"kernels-cuda13x"}});
  world.index.add_wheel({.name = "tool", .version = "3.0", .requires_dist = {"kernels-rocm-6"}});
  world.index.add_wheel({.name = "kernels_rocm_6", .version = "1.0"});
  world.install("acme", "2.0+cu126");
  // An older version that does not mix them.
  CHECK(world.resolve({"tool"}) == Strings{"tool 1.0"});
  const auto refused = world.error({"tool>=2,<3"});
  CHECK(refused.kind == ErrorKind::conflict);
  CHECK_MESSAGE(refused.message.contains("CUDA 13"), refused.message);
  CHECK_MESSAGE(refused.message.contains("acme 2.0+cu126, which is installed, is for CUDA 12"),
                refused.message);
  CHECK(world.error({"tool>=3"}).message.contains("ROCm 6"));
  // Whoever names it wants it.
  CHECK(world.resolve({"kernels-cuda13x"}) == Strings{"kernels-cuda13x 1.0"});
  CHECK(world.remarked("is for CUDA 13"));
  CHECK(world.resolve({"old"}) == Strings{"kernels-cuda12x 1.0", "old 1.0"});
}

TEST_CASE("libraries that toolkits number say the platform, others do not") {
  using axle::resolver::gpu_platform_of_library;
  for (const auto& [library, platform] :
       {std::pair("libcudart.so.12", "CUDA 12"), std::pair("libcudart.so.11.0", "CUDA 11"),
        std::pair("libcublasLt.so.13", "CUDA 13"), std::pair("libnvrtc.so.11.2", "CUDA 11"),
        std::pair("libamdhip64.so.6", "ROCm 6"), std::pair("libsycl.so.8", "XPU"),
        std::pair("libcusparse.so.12", ""), std::pair("libcuda.so.1", ""),
        std::pair("libcudart-8774224f.so.12.4.127", ""), std::pair("libcudart.so.", ""),
        std::pair("libcudart.so.x", ""), std::pair("", "")}) {
    CAPTURE(library);
    CHECK(gpu_platform_of_library(library) == platform);
  }
}

TEST_CASE("a library that was read says the platform of a wheel of which nothing else does") {
  MixedWorld world;
  world.index.add_wheel({.name = "engine", .version = "1.0"});
  CHECK(world.resolve({"acme", "engine"}) == Strings{"acme 2.1+cu130[cu130]", "engine 1.0"});
  const std::string url = world.package("engine").url;
  world.options.gpu_libraries[url] = "libcudart.so.12";
  CHECK(world.resolve({"acme", "engine"}) == Strings{"acme 2.0+cu126[cu126]", "engine 1.0"});
  CHECK(
      world.remarked("acme 2.0+cu126 is chosen, not 2.1: engine 1.0 (needs libcudart.so.12) is for "
                     "CUDA 12, acme 2.1+cu130 is for CUDA 13"));
  const auto refused = world.error({"new", "engine"});
  CHECK_MESSAGE(refused.message.contains("engine 1.0 (needs libcudart.so.12) is for CUDA 12"),
                refused.message);
}

TEST_CASE("what an installed package requires says its platform where nothing else does") {
  MixedWorld world;
  world.index.add_wheel({.name = "tool", .version = "1.0"});
  world.index.add_wheel({.name = "tool", .version = "2.0", .requires_dist = {"kernels-cuda13x"}});
  world.install("engine", "1.0", {"nvidia-cublas-cu12; sys_platform == 'linux'"});
  CHECK(world.resolve({"tool"}) == Strings{"tool 1.0"});
  world.installed.clear();
  world.install("engine", "1.0", {"nvidia-cublas-cu12; sys_platform == 'win32'"});
  CHECK(world.resolve({"tool"}) == Strings{"kernels-cuda13x 1.0", "tool 2.0"});
}

TEST_CASE("an environment that is a mixture already stands in nobody's way") {
  MixedWorld world;
  world.install("kernels-cuda12x", "1.0");
  world.install("kernels-cuda13x", "1.0");
  world.index.add_wheel({.name = "tool", .version = "2.0", .requires_dist = {"kernels-cuda13x"}});
  world.index.add_wheel(
      {.name = "both", .version = "1.0", .requires_dist = {"kernels-cuda12x", "kernels-cuda13x"}});
  CHECK(world.resolve({"tool"}) == Strings{"=kernels-cuda13x 1.0", "tool 2.0"});
  CHECK(world.resolve({"both"}) ==
        Strings{"both 1.0", "=kernels-cuda12x 1.0", "=kernels-cuda13x 1.0"});
}
