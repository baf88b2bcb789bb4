#include "resolver/family/built_for.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace axle::resolver {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits that `text` starts with, taken off it.
std::string_view take_digits(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  return digits;
}

/// Where `word` stands in `text`, without a letter before it.
std::optional<std::string_view> after_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (at == 0 || std::isalpha(static_cast<unsigned char>(text[at - 1])) == 0)
      return text.substr(at + word.size());
  }
  return std::nullopt;
}

/// The same with a digit behind it.
std::optional<std::string_view> number_after(std::string_view text, std::string_view word) {
  const auto rest = after_word(text, word);
  return rest && !rest->empty() && is_digit(rest->front()) ? rest : std::nullopt;
}

/// "2.9" of "2.9cxx11abitrue" and "2.9.0cu128".
std::string dotted_minor(std::string_view text) {
  const std::string_view major = take_digits(text);
  if (!text.starts_with('.')) return {};
  text.remove_prefix(1);
  const std::string_view minor = take_digits(text);
  return minor.empty() || minor.size() > 3 || major.empty() || major.size() > 3
             ? std::string()
             : fmt::format("{}.{}", major, minor);
}

/// "2.9" of PyG's "29", "2.10" of "210".
std::string joined_minor(std::string_view text) {
  const std::string_view digits = take_digits(text);
  return digits.size() < 2 || digits.size() > 3
             ? std::string()
             : fmt::format("{}.{}", digits.substr(0, 1), digits.substr(1));
}

/// "2.6" of natten's "260", "2.10" of "2100": with the third component.
std::string joined_patch(std::string_view text) {
  const std::string_view digits = take_digits(text);
  return digits.size() < 3 || digits.size() > 4
             ? std::string()
             : fmt::format("{}.{}", digits.substr(0, 1), digits.substr(1, digits.size() - 2));
}

std::string torch_version(std::string_view local) {
  if (const std::size_t at = local.find("torch"); at != local.npos) {
    const std::string_view rest = local.substr(at + 5);
    if (std::string minor = dotted_minor(rest); !minor.empty()) return minor;
    if (std::string minor = joined_patch(rest); !minor.empty()) return minor;
  }
  const auto rest = number_after(local, "pt");
  if (!rest) return {};
  std::string minor = dotted_minor(*rest);
  return minor.empty() ? joined_minor(*rest) : minor;
}

/// "12" of 12, 126 and 12.6: CUDA has had two digits since 10.
std::string cuda_major(std::string_view text) {
  const std::string_view digits = take_digits(text);
  return digits.size() < 2 || digits.size() > 3 ? std::string() : std::string(digits.substr(0, 2));
}

/// "7.0" of 7.0, 70 and 700; "7.14" of 7.14.
std::string rocm_version(std::string_view text) {
  if (std::string dotted = dotted_minor(text); !dotted.empty()) return dotted;
  const std::string_view digits = take_digits(text);
  if (digits.empty() || digits.size() > 3) return {};
  return digits.size() == 1 ? std::string(digits)
                            : fmt::format("{}.{}", digits.substr(0, 1), digits.substr(1, 1));
}

void read_backend(std::string_view local, BuiltFor& built) {
  for (const std::string_view word : {"cuda", "cu"}) {
    const auto rest = number_after(local, word);
    if (!rest) continue;
    built.toolkit = cuda_major(*rest);
    if (built.toolkit.empty()) continue;
    built.vendor = "nvidia";
    return;
  }
  if (const auto rest = number_after(local, "rocm")) {
    built.vendor = "amd";
    built.toolkit = rocm_version(*rest);
  } else if (after_word(local, "xpu")) {
    built.vendor = "intel";
  } else if (after_word(local, "cpu")) {
    built.vendor = "cpu";
  }
}

}  // namespace

wheel::SpecifierSet BuiltFor::versions() const {
  if (torch.empty()) return {};
  auto specifiers = wheel::parse_specifiers(fmt::format("=={}.*", torch));
  return specifiers ? std::move(*specifiers) : wheel::SpecifierSet{};
}

std::string BuiltFor::render() const {
  std::string text =
      torch.empty() ? std::string(torch_package) : fmt::format("{} {}", torch_package, torch);
  if (vendor == "nvidia") text += " for CUDA " + toolkit;
  if (vendor == "amd") text += toolkit.empty() ? " for ROCm" : " for ROCm " + toolkit;
  if (vendor == "intel") text += " for XPU";
  if (vendor == "cpu") text += " for CPUs";
  if (cxx11_abi) text += *cxx11_abi ? " with the C++11 ABI" : " with the old C++ ABI";
  return text;
}

bool is_backend_of(const BuiltFor& built, const index::FamilyLabel& label) {
  if (built.vendor.empty()) return true;
  if (label.vendor != (built.vendor == "cpu" ? "" : built.vendor)) return false;
  // "13" is a prefix of "13.2", and "7.1" of "7.1.1", but not of "7.14".
  return built.toolkit.empty() || label.toolkit.empty() ||
         (label.toolkit + ".").starts_with(built.toolkit + ".");
}

std::optional<BuiltFor> parse_built_for(const wheel::Version& version) {
  BuiltFor built;
  built.local = index::local_label(version);
  if (built.local.empty()) return std::nullopt;
  built.torch = torch_version(built.local);
  read_backend(built.local, built);
  if (built.local.contains("cxx11abitrue")) built.cxx11_abi = true;
  if (built.local.contains("cxx11abifalse")) built.cxx11_abi = false;
  const bool gpu_version = !built.toolkit.empty();
  if (!built.says_torch() && !gpu_version) return std::nullopt;
  return built;
}

}  // namespace axle::resolver
