#include "binaries/gpu_code_match.h"

#include <doctest/doctest.h>

namespace axle::builder {
namespace {

using detect::Gpu;
using detect::GpuVendor;
using detect::Machine;

Machine machine_with(GpuVendor vendor, const std::string& arch, const std::string& cuda = "") {
  Machine machine;
  Gpu gpu;
  gpu.vendor = vendor;
  gpu.arch = arch;
  gpu.usable = detect::Presence::present;
  machine.gpus.push_back(gpu);
  detect::Driver driver;
  driver.vendor = vendor;
  driver.usable = detect::Presence::present;
  driver.api_version = cuda;
  machine.drivers.push_back(driver);
  return machine;
}

axle::binaries::CodeFit cuda(const std::string& device, const std::string& driver,
                             const std::vector<axle::binaries::CudaCode>& codes) {
  const Machine machine = machine_with(GpuVendor::nvidia, device, driver);
  return axle::binaries::judge_cuda_group({codes, 1}, machine.gpus[0], machine);
}

axle::binaries::CudaCode cubin(std::uint32_t architecture, char target = 0) {
  return {axle::binaries::CudaCodeKind::cubin, architecture, target, 1, 8};
}
axle::binaries::CudaCode ptx(std::uint32_t architecture, std::uint16_t major, std::uint16_t minor,
                             char target = 0) {
  return {axle::binaries::CudaCodeKind::ptx, architecture, target, major, minor};
}

TEST_CASE("match: compiled CUDA code runs as torch's own table has it") {
  CHECK(cuda("8.9", "13.0", {cubin(86)}) == axle::binaries::CodeFit::runs);
  CHECK(cuda("9.0", "13.0", {cubin(86)}) == axle::binaries::CodeFit::absent);
  CHECK(cuda("8.7", "13.0", {cubin(80), cubin(86)}) == axle::binaries::CodeFit::absent);  // Orin
  CHECK(cuda("12.1", "13.0", {cubin(120)}) == axle::binaries::CodeFit::runs);
  CHECK(cuda("11.0", "13.0", {cubin(101)}) ==
        axle::binaries::CodeFit::runs);  // Thor's older number
  CHECK(cuda("6.1", "13.0", {cubin(75), cubin(90)}) == axle::binaries::CodeFit::absent);
  CHECK(cuda("", "13.0", {cubin(75)}) == axle::binaries::CodeFit::unknown);
}

TEST_CASE("match: targets with a and f are for their own architecture and family") {
  CHECK(cuda("9.0", "13.0", {cubin(90, 'a')}) == axle::binaries::CodeFit::runs);
  CHECK(cuda("12.1", "13.0", {cubin(120, 'a')}) == axle::binaries::CodeFit::absent);
  CHECK(cuda("12.1", "13.0", {cubin(120, 'f')}) == axle::binaries::CodeFit::runs);
  CHECK(cuda("10.3", "13.0", {cubin(100, 'f')}) == axle::binaries::CodeFit::runs);
  CHECK(cuda("12.0", "13.0", {ptx(90, 9, 0, 'a')}) == axle::binaries::CodeFit::absent);
}

TEST_CASE("match: PTX needs the driver of its toolkit") {
  CHECK(cuda("12.0", "12.8", {cubin(90), ptx(90, 8, 7)}) == axle::binaries::CodeFit::runs);
  CHECK(cuda("12.0", "12.4", {ptx(90, 8, 7)}) == axle::binaries::CodeFit::needs_newer_driver);
  CHECK(cuda("12.0", "", {ptx(90, 8, 7)}) == axle::binaries::CodeFit::unknown);
  CHECK(cuda("12.0", "13.0", {ptx(90, 99, 0)}) == axle::binaries::CodeFit::unknown);
  CHECK(cuda("8.0", "13.0", {ptx(90, 8, 7)}) == axle::binaries::CodeFit::absent);
  CHECK(axle::binaries::cuda_of_ptx(8, 7) == "12.8");
  CHECK(axle::binaries::cuda_of_ptx(1, 0).empty());
}

TEST_CASE("match: what zstd packed needs a driver that unpacks it") {
  const auto needs = [](const std::string& driver,
                        const std::vector<axle::binaries::CudaCode>& codes) {
    const Machine machine = machine_with(GpuVendor::nvidia, "9.0", driver);
    return axle::binaries::needs_unpacking_driver({codes, 1}, machine.gpus[0], machine);
  };
  const auto packed = [](axle::binaries::CudaCode code, axle::binaries::CudaPacking packing) {
    code.packing = packing;
    return code;
  };
  const axle::binaries::CudaCode zstd = packed(cubin(90), axle::binaries::CudaPacking::zstd);
  CHECK(needs("12.3", {zstd}));
  CHECK_FALSE(needs("12.4", {zstd}));
  CHECK_FALSE(needs("", {zstd}));
  CHECK_FALSE(needs("12.2", {packed(cubin(90), axle::binaries::CudaPacking::lz4)}));
  CHECK_FALSE(needs("12.2", {zstd, cubin(90)}));  // one is enough
  CHECK_FALSE(
      needs("12.2", {packed(cubin(80), axle::binaries::CudaPacking::zstd)}));  // not for this GPU
  CHECK(needs("12.2", {zstd, cubin(80)}));
}

TEST_CASE("match: AMD's processors, families and settings") {
  const auto amd = [](const std::string& device, std::string_view target) {
    return axle::binaries::judge_amd_target(target, machine_with(GpuVendor::amd, device).gpus[0]);
  };
  CHECK(amd("gfx942", "gfx942") == axle::binaries::CodeFit::runs);
  CHECK(amd("gfx942", "gfx942:sramecc+:xnack-") == axle::binaries::CodeFit::runs);
  CHECK(amd("gfx942", "gfx942:xnack+") == axle::binaries::CodeFit::unknown);
  CHECK(amd("gfx942:sramecc+:xnack-", "gfx942:xnack+") == axle::binaries::CodeFit::absent);
  CHECK(amd("gfx942:sramecc+:xnack+", "gfx942:xnack+") == axle::binaries::CodeFit::runs);
  CHECK(amd("gfx942", "gfx9-4-generic") == axle::binaries::CodeFit::runs);
  CHECK(amd("gfx1103", "gfx11-generic") == axle::binaries::CodeFit::runs);
  CHECK(amd("gfx1201", "gfx11-generic") == axle::binaries::CodeFit::absent);
  CHECK(amd("gfx90a", "gfx942") == axle::binaries::CodeFit::absent);
  CHECK(amd("gfx1100", "amdgcnspirv") == axle::binaries::CodeFit::unknown);
  CHECK(amd("", "gfx942") == axle::binaries::CodeFit::unknown);
}

TEST_CASE("match: Intel's images by product, SPIR-V everywhere") {
  const Gpu battlemage = machine_with(GpuVendor::intel, "20.2.0").gpus[0];
  axle::binaries::SyclImages images;
  images.ahead = true;
  images.device_ips = {"20.1.0"};
  CHECK(axle::binaries::judge_sycl_images(images, battlemage) ==
        axle::binaries::CodeFit::runs);  // its base platform
  images.device_ips = {"12.60.7"};
  CHECK(axle::binaries::judge_sycl_images(images, battlemage) == axle::binaries::CodeFit::absent);
  images.products = {"xe4"};
  CHECK(axle::binaries::judge_sycl_images(images, battlemage) == axle::binaries::CodeFit::unknown);
  images.jit = true;
  CHECK(axle::binaries::judge_sycl_images(images, battlemage) == axle::binaries::CodeFit::runs);
}

}  // namespace
}  // namespace axle::builder
