#include "doctor/audit/library_owners.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>

#include <fmt/core.h>

namespace axle::doctor {
namespace {

/// A library of CUDA on the index: "nvidia-cublas-cu12", since CUDA 13 "nvidia-cublas" or
/// "cuda-toolkit[cublas]".
struct CudaLibrary {
  std::string_view stem;          ///< "libcublas"
  std::string_view distribution;  ///< without "-cu12"
  std::string_view extra;         ///< of cuda-toolkit; empty: none has it
  /// Its own major for CUDA 11, 12 and 13; 0: it says nothing of CUDA's.
  std::array<unsigned, 3> majors;
};

constexpr std::array<unsigned, 3> same = {11, 12, 13};
constexpr std::array<unsigned, 3> unrelated = {0, 0, 0};

constexpr CudaLibrary cuda_libraries[] = {
    {"libcudart", "nvidia-cuda-runtime", "cudart", same},
    {"libcublas", "nvidia-cublas", "cublas", same},
    {"libcublasLt", "nvidia-cublas", "cublas", same},
    {"libnvblas", "nvidia-cublas", "cublas", same},
    {"libcufft", "nvidia-cufft", "cufft", {10, 11, 12}},
    {"libcufftw", "nvidia-cufft", "cufft", {10, 11, 12}},
    {"libcurand", "nvidia-curand", "curand", unrelated},
    {"libcusolver", "nvidia-cusolver", "cusolver", {0, 11, 12}},
    {"libcusolverMg", "nvidia-cusolver", "cusolver", {0, 11, 12}},
    {"libcusparse", "nvidia-cusparse", "cusparse", unrelated},
    {"libnvJitLink", "nvidia-nvjitlink", "nvjitlink", same},
    {"libnvrtc", "nvidia-cuda-nvrtc", "nvrtc", same},
    {"libnvrtc-builtins", "nvidia-cuda-nvrtc", "nvrtc", same},
    {"libcupti", "nvidia-cuda-cupti", "cupti", same},
    {"libnvToolsExt", "nvidia-nvtx", "nvtx", unrelated},
    {"libcufile", "nvidia-cufile", "cufile", unrelated},
    {"libcufile_rdma", "nvidia-cufile", "cufile", unrelated},
    {"libnppc", "nvidia-npp", "npp", same},
    {"libnppif", "nvidia-npp", "npp", same},
    {"libnppig", "nvidia-npp", "npp", same},
    {"libnppicc", "nvidia-npp", "npp", same},
    {"libnvjpeg", "nvidia-nvjpeg", "nvjpeg", same},
    {"libnvfatbin", "nvidia-nvfatbin", "nvfatbin", same},
    {"libnvvm", "nvidia-nvvm", "nvvm", unrelated},
    {"libcusparseLt", "nvidia-cusparselt", "", unrelated},
    {"libnccl", "nvidia-nccl", "", unrelated},
    {"libnvshmem_host", "nvidia-nvshmem", "", unrelated},
    {"libcudnn", "nvidia-cudnn", "", unrelated},
    {"libcudss", "nvidia-cudss", "", unrelated},
    {"libcutensor", "cutensor", "", unrelated},
    {"libcustatevec", "custatevec", "", unrelated},
};

/// Other libraries, by the beginning of their names.
struct OwnedLibrary {
  std::string_view prefix;
  std::string_view distribution;
};

constexpr OwnedLibrary owned_libraries[] = {
    {"libtorch", "torch"},
    {"libc10", "torch"},
    {"libshm.so", "torch"},
    {"libmkl_", "mkl"},
    {"libiomp5.so", "intel-openmp"},
    {"libtbb", "tbb"},
    {"libsycl.so", "intel-sycl-rt"},
    {"libOpenCL.so.1", "intel-opencl-rt"},
    {"libsvml.so", "intel-cmplr-lib-rt"},
    {"libimf.so", "intel-cmplr-lib-rt"},
    {"libintlc.so", "intel-cmplr-lib-rt"},
    {"libirc.so", "intel-cmplr-lib-rt"},
    {"libirng.so", "intel-cmplr-lib-rt"},
    {"libccl.so", "oneccl"},
    {"libdnnl.so", "onednn"},
    {"libarrow", "pyarrow"},
    {"libparquet", "pyarrow"},
    {"libopenvino", "openvino"},
    {"libnvinfer", "tensorrt"},
    {"libnvonnxparser", "tensorrt"},
    {"libtensorflow_framework", "tensorflow"},
    {"libtensorflow_cc", "tensorflow"},
    {"librmm", "librmm"},
    {"libcudf", "libcudf"},
    {"libraft", "libraft"},
    {"libamdhip64.so", "rocm"},
    {"libhsa-runtime64.so", "rocm"},
    {"librocblas.so", "rocm"},
    {"libhipblas", "rocm"},
    {"librocfft.so", "rocm"},
    {"libhipfft.so", "rocm"},
    {"libMIOpen.so", "rocm"},
    {"librccl.so", "rocm"},
    {"libhiprtc.so", "rocm"},
    {"librocsparse.so", "rocm"},
    {"libhipsparse", "rocm"},
    {"libhipsolver.so", "rocm"},
    {"librocsolver.so", "rocm"},
    {"librocrand.so", "rocm"},
    {"libhiprand.so", "rocm"},
    {"libamd_comgr.so", "rocm"},
    {"libroctx64.so", "rocm"},
    {"libroctracer64.so", "rocm"},
};

constexpr std::string_view driver_libraries[] = {
    "libcuda.so.1",          "libnvidia-ml.so.1", "libnvidia-opticalflow.so.1",
    "libnvidia-encode.so.1", "libnvcuvid.so.1",   "libnvoptix.so.1",
    "libOpenCL.so.1",        "libze_loader.so.1", "libvulkan.so.1",
    "libEGL.so.1",           "libGLX.so.0",       "libdrm.so.2",
};

/// Without the hash that auditwheel puts behind the name: "libcudart" of libcudart-1234abcd.so.12.
std::string_view stem_of(std::string_view library) {
  constexpr std::size_t hash_size = 8;
  const std::string_view stem = library.substr(0, library.find(".so"));
  const std::size_t dash = stem.rfind('-');
  const bool hash = dash != std::string_view::npos && stem.size() - dash == hash_size + 1 &&
                    stem.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos;
  return hash ? stem.substr(0, dash) : stem;
}

/// 12 of "libcublas.so.12"; 0: none.
unsigned library_major(std::string_view library) {
  const std::size_t at = library.find(".so.");
  unsigned major = 0;
  if (at == std::string_view::npos) return 0;
  const std::string_view digits = library.substr(at + 4);
  std::from_chars(digits.data(), digits.data() + digits.size(), major);
  return major;
}

const CudaLibrary* cuda_library(std::string_view library) {
  std::string_view stem = stem_of(library);
  if (stem.starts_with("libcudnn")) stem = "libcudnn";
  const auto* const found = std::ranges::find(cuda_libraries, stem, &CudaLibrary::stem);
  return found == std::end(cuda_libraries) ? nullptr : found;
}

const OwnedLibrary* owned_library(std::string_view library) {
  const auto* const found = std::ranges::find_if(
      owned_libraries, [&](const OwnedLibrary& one) { return library.starts_with(one.prefix); });
  return found == std::end(owned_libraries) ? nullptr : found;
}

/// 12 of "nvidia-cublas-cu12"; nullopt: the name does not say it.
std::optional<unsigned> major_in_name(std::string_view distribution, std::string_view base) {
  if (!distribution.starts_with(base)) return std::nullopt;
  distribution.remove_prefix(base.size());
  unsigned major = 0;
  if (!distribution.starts_with("-cu")) return std::nullopt;
  const auto [stop, error] =
      std::from_chars(distribution.data() + 3, distribution.data() + distribution.size(), major);
  if (error != std::errc() || stop != distribution.data() + distribution.size())
    return std::nullopt;
  return major;
}

bool brings_cuda_library(const wheel::Requirement& requirement, const CudaLibrary& library,
                         unsigned cuda) {
  const std::string name = wheel::normalize_name(requirement.name);
  if (name == library.distribution) return true;
  if (const auto major = major_in_name(name, library.distribution))
    return cuda == 0 || *major == cuda;
  return name == "cuda-toolkit" && !library.extra.empty() &&
         std::ranges::any_of(requirement.extras, [&](const std::string& extra) {
           return extra == library.extra || extra == "all";
         });
}

/// Builds of torch for CUDA or ROCm require its libraries, or contain them.
bool is_torch(const wheel::Requirement& requirement) {
  return wheel::normalize_name(requirement.name) == "torch";
}

}  // namespace

bool is_driver_library(std::string_view name) {
  return std::ranges::find(driver_libraries, name) != std::end(driver_libraries);
}

bool is_python_library(std::string_view name) { return name.starts_with("libpython"); }

unsigned cuda_major_of(std::string_view library) {
  const CudaLibrary* known = cuda_library(library);
  const unsigned own = library_major(library);
  if (known == nullptr || own == 0) return 0;
  for (std::size_t i = 0; i < same.size(); ++i) {
    if (known->majors[i] == own) return same[i];
  }
  return 0;
}

unsigned rocm_major_of(std::string_view library) {
  return library.starts_with("libamdhip64.so.") ? library_major(library) : 0;
}

std::span<const std::string_view> toolkits() {
  static constexpr std::string_view names[] = {"CUDA", "ROCm"};
  return names;
}

std::string_view toolkit_of(std::string_view library) {
  if (cuda_library(library) != nullptr) return toolkits()[0];
  const OwnedLibrary* known = owned_library(library);
  return known != nullptr && known->distribution == "rocm" ? toolkits()[1] : std::string_view();
}

bool is_declared(std::string_view library, const std::vector<wheel::Requirement>& requirements) {
  if (const CudaLibrary* known = cuda_library(library)) {
    const unsigned cuda = cuda_major_of(library);
    return std::ranges::any_of(requirements, [&](const wheel::Requirement& one) {
      return is_torch(one) || brings_cuda_library(one, *known, cuda);
    });
  }
  const OwnedLibrary* known = owned_library(library);
  if (known == nullptr) return false;
  return std::ranges::any_of(requirements, [&](const wheel::Requirement& one) {
    const std::string name = wheel::normalize_name(one.name);
    const bool rocm = known->distribution == "rocm" && (name.starts_with("rocm") || is_torch(one));
    return name == known->distribution || rocm ||
           name.starts_with(fmt::format("{}-", known->distribution));
  });
}

std::string owner_of(std::string_view library) {
  if (const CudaLibrary* known = cuda_library(library)) {
    const unsigned cuda = cuda_major_of(library);
    constexpr unsigned first_without_suffix = 13;
    if (cuda == 0 || (cuda >= first_without_suffix && !known->extra.empty()))
      return std::string(known->distribution);
    return fmt::format("{}-cu{}", known->distribution, cuda);
  }
  const OwnedLibrary* known = owned_library(library);
  return known == nullptr ? std::string() : std::string(known->distribution);
}

}  // namespace axle::doctor
