#include <doctest/doctest.h>

#include "detect/nvidia/cuda_drivers.h"
#include "detect/nvidia/facts.h"

using namespace axle::detect;

TEST_CASE("the kernel module's version line in its three spellings") {
  CHECK(parse_nvidia_proc_version(
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC "
            "2024\nGCC version:  gcc version 12.2.0\n") == "550.54.14");
  CHECK(
      parse_nvidia_proc_version(
          "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.124.06  Release Build\n") ==
      "570.124.06");
  CHECK(parse_nvidia_proc_version(
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  375.74  Wed\n") == "375.74");
  CHECK(parse_nvidia_proc_version("GCC version: 12.2.0\n").empty());
  CHECK(parse_nvidia_proc_version("").empty());
}

TEST_CASE("the model of a GPU as its driver names it") {
  CHECK(parse_nvidia_model("Model: \t\t NVIDIA H100 PCIe\nIRQ:   \t\t 80\n") == "NVIDIA H100 PCIe");
  CHECK(parse_nvidia_model("IRQ: 80\nModel:\n").empty());
}

TEST_CASE("versions in file names") {
  CHECK(parse_library_version("/usr/lib/libcuda.so.570.124.06") == "570.124.06");
  CHECK(parse_library_version("/usr/lib/tegra/libcuda.so.1.1").empty());
  CHECK(parse_library_version("libcuda.so.1").empty());
  CHECK(parse_library_version("libcuda.so").empty());
}

TEST_CASE("a driver's branch gives the newest CUDA") {
  CHECK(cuda_of_driver("570.26") == "12.8");
  CHECK(cuda_of_driver("550.54.14") == "12.4");
  CHECK(cuda_of_driver("535.183.01") == "12.2");
  CHECK(cuda_of_driver("580.65.06") == "13.0");
  CHECK(cuda_of_driver("590.44.01") == "13.1");
  // A branch between two rows brings what the older one brought.
  CHECK(cuda_of_driver("537.13") == "12.2");
  CHECK(cuda_of_driver("340.108").empty());
  CHECK(cuda_of_driver("").empty());
  CHECK(cuda_of_driver("x").empty());
}

TEST_CASE("numbers of drivers for Windows are of the same branches, with floors of their own") {
  // nvidia-smi on Windows shows these.
  for (const auto& [driver, cuda] :
       {std::pair("581.29", "13.0"), std::pair("576.02", "12.9"), std::pair("572.16", "12.8"),
        std::pair("566.36", "12.7"), std::pair("560.94", "12.6"), std::pair("551.23", "12.4"),
        std::pair("537.13", "12.2"), std::pair("528.49", "12.0"), std::pair("516.94", "11.7"),
        std::pair("472.12", "11.4")})
    CHECK(cuda_of_windows_driver(driver) == cuda);
  CHECK(cuda_of_windows_driver("528.33") == "12.0");
  CHECK(cuda_of_windows_driver("528.24") == "11.8");
  CHECK(cuda_of_windows_driver("527.41") == "11.8");
  CHECK(cuda_of_windows_driver("452.39") == "11.0");
  CHECK(cuda_of_windows_driver("451.82") == "10.2");
  CHECK(cuda_of_windows_driver("580") == "13.0");
  CHECK(cuda_of_windows_driver("").empty());
  CHECK(first_windows_driver_of_cuda("12.6") == "560.76");
  CHECK(first_windows_driver_of_cuda("12.0") == "528.33");
  CHECK(first_windows_driver_of_cuda("99.0").empty());
  for (const CudaDriverBranch& row : cuda_driver_branches) {
    const std::string_view first = first_windows_driver_of_cuda(row.cuda);
    CHECK_MESSAGE(cuda_of_windows_driver(first) == row.cuda, first);
  }
  CHECK(is_older_driver("527.41", "528.33"));
  CHECK(is_older_driver("580", "580.65.06"));
  CHECK(is_older_driver("99.1", "528.33"));
  CHECK_FALSE(is_older_driver("528.33", "528.33"));
  CHECK_FALSE(is_older_driver("528.33", "527.41"));
  CHECK_FALSE(is_older_driver("x", "1"));
}

TEST_CASE("CUDA versions as drivers count them") {
  CHECK(render_cuda_version(12080) == "12.8");
  CHECK(render_cuda_version(13000) == "13.0");
  CHECK(render_cuda_version(9020) == "9.2");
  CHECK_FALSE(render_cuda_version(0).has_value());
  CHECK_FALSE(render_cuda_version(-1).has_value());
  CHECK_FALSE(render_cuda_version(1'000'000).has_value());
}
