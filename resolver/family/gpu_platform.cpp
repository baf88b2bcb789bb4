#include "resolver/family/gpu_platform.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "resolver/family/built_for.h"

namespace axle::resolver {
namespace {

bool is_decimal(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// "12" of "cu128" and "cuda12x"; CUDA has had two digits since 10.
std::string cuda_major_of_word(std::string_view word) {
  for (const std::string_view prefix : {"cuda", "cu"}) {
    if (!word.starts_with(prefix)) continue;
    const std::string_view rest = word.substr(prefix.size());
    const std::size_t digits = std::ranges::find_if_not(rest, is_decimal) - rest.begin();
    if (digits >= 2 && digits <= 3) return std::string(rest.substr(0, 2));
  }
  return {};
}

std::vector<std::string_view> words_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// The first digit of "rocm60" and "rocm6.4"; of "rocm", that of the next word.
std::string rocm_major(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("rocm")) continue;
    const std::string_view own = words[i].substr(4);
    const std::string_view number = own.empty() && i + 1 < words.size() ? words[i + 1] : own;
    if (!number.empty() && is_decimal(number.front())) return std::string(number.substr(0, 1));
  }
  return {};
}

std::string platform_in(const std::vector<std::string_view>& words) {
  for (const std::string_view word : words) {
    if (const std::string major = cuda_major_of_word(word); !major.empty()) return "CUDA " + major;
  }
  const std::string major = rocm_major(words);
  return major.empty() ? std::string() : "ROCm " + major;
}

std::string platform_of(std::string_view vendor, const std::string& toolkit) {
  const std::string major = toolkit.substr(0, toolkit.find('.'));
  if (vendor == "intel") return "XPU";
  if (major.empty()) return {};
  if (vendor == "nvidia") return "CUDA " + major;
  return vendor == "amd" ? "ROCm " + major : std::string();
}

struct BackendWord {
  std::string_view word;  ///< in names and local versions
  std::string_view name;  ///< that platforms begin with
  detect::GpuVendor vendor;
};
constexpr std::array<BackendWord, 3> backend_words = {{
    {"cuda", "CUDA", detect::GpuVendor::nvidia},
    {"rocm", "ROCm", detect::GpuVendor::amd},
    {"xpu", "XPU", detect::GpuVendor::intel},
}};

}  // namespace

std::string gpu_backend(std::string_view name, const wheel::Version& version) {
  std::vector<std::string_view> words = words_of(name, "-");
  const std::string local = index::local_label(version);
  std::ranges::copy(words_of(local, "."), std::back_inserter(words));
  for (const BackendWord& backend : backend_words) {
    if (std::ranges::find(words, backend.word) != words.end()) return std::string(backend.name);
  }
  return {};
}

bool is_platform_of(std::string_view platform, detect::GpuVendor vendor) {
  return std::ranges::any_of(backend_words, [&](const BackendWord& backend) {
    return backend.vendor == vendor && platform.starts_with(backend.name);
  });
}

std::string gpu_platform_of_name(std::string_view name) { return platform_in(words_of(name, "-")); }

std::string gpu_platform_of_library(std::string_view library) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> vendors = {{
      {"libcudart.so.", "nvidia"},
      {"libcublas.so.", "nvidia"},
      {"libcublasLt.so.", "nvidia"},
      {"libnvrtc.so.", "nvidia"},
      {"libamdhip64.so.", "amd"},
      {"libsycl.so.", "intel"},
  }};
  for (const auto& [prefix, vendor] : vendors) {
    if (!library.starts_with(prefix)) continue;
    const std::string version(library.substr(prefix.size()));
    const bool numbered = !version.empty() && std::ranges::all_of(version, [](char c) {
      return is_decimal(c) || c == '.';
    });
    return numbered ? platform_of(vendor, version) : std::string();
  }
  return {};
}

std::string gpu_platform(std::string_view name, const wheel::Version& version,
                         const index::FamilyLabel* label) {
  if (label != nullptr) return platform_of(label->vendor, label->toolkit);
  if (std::string platform = gpu_platform_of_name(name); !platform.empty()) return platform;
  if (const auto built = parse_built_for(version))
    return platform_of(built->vendor, built->toolkit);
  // NVIDIA dropped the suffix of its names with CUDA 13; these have CUDA's own version.
  constexpr std::array<std::string_view, 3> as_cuda = {"cuda-bindings", "cuda-toolkit",
                                                       "nvidia-cuda-runtime"};
  const bool counts = std::ranges::find(as_cuda, name) != as_cuda.end();
  return counts && !version.release.empty() && version.release.front() >= 12
             ? fmt::format("CUDA {}", version.release.front())
             : std::string();
}

}  // namespace axle::resolver
