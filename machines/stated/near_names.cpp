#include "machines/stated/near_names.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "detect/os/macos.h"
#include "foundation/text/ascii.h"
#include "machines/contradictions.h"
#include "machines/fact_words.h"
#include "machines/shipped_profiles.h"

namespace axle::machines {

namespace {

struct NearName {
  std::string_view word;  ///< without capitals and separators
  std::string_view meant;
};

constexpr NearName near_names[] = {
    {"mac", "macos"},
    {"macosx", "macos"},
    {"osx", "macos"},
    {"darwin", "macos"},
    {"apple", "macos"},
    {"applesilicon", "macos"},
    {"win", "windows"},
    {"win64", "windows"},
    {"win10", "windows:10"},
    {"windows10", "windows:10"},
    {"win11", "windows:11"},
    {"windows11", "windows:11"},
    {"winarm64", "windows;aarch64"},
    {"windowsarm", "windows;aarch64"},
    {"windowsarm64", "windows;aarch64"},
    {"woa", "windows;aarch64"},
    {"snapdragon", "windows-snapdragon-x"},
    {"oryon", "windows-snapdragon-x"},
    {"ubuntu", "linux"},
    {"debian", "linux"},
};

constexpr NearName architecture_words[] = {
    {"arm64", "aarch64"}, {"amd64", "x86_64"}, {"x64", "x86_64"}, {"x86-64", "x86_64"}};

constexpr std::string_view words_of_32_bits[] = {"win32", "x86", "i386", "i686"};

std::string folded(std::string_view name) {
  std::string kept;
  for (const char c : name) {
    if (c != '-' && c != '_' && c != '.' && !text::is_ascii_space(c)) kept += text::ascii_lower(c);
  }
  return kept;
}

/// "m4" of "Apple M4 Pro", "m4max" and "macos15-m4"; empty: none.
std::string apple_processor_in(std::string_view lowered) {
  for (const std::string_view word : split(lowered, " -_;")) {
    if (word.size() < 2 || word[0] != 'm' || word[1] < '1' || word[1] > '9') continue;
    const std::string_view rest = word.substr(2);
    if (rest.empty() || rest == "pro" || rest == "max" || rest == "ultra")
      return std::string(word.substr(0, 2));
  }
  return {};
}

/// 15 of "macos15-m5".
std::optional<unsigned> macos_in(std::string_view lowered) {
  for (const std::string_view start : {"macos", "mac"}) {
    if (!lowered.starts_with(start)) continue;
    unsigned major = 0;
    const char* const begin = lowered.data() + start.size();
    const auto read = std::from_chars(begin, lowered.data() + lowered.size(), major);
    if (read.ec == std::errc()) return major;
  }
  return std::nullopt;
}

/// "macos15-m4" for "m4"; empty: no profile is of it.
std::string_view shipped_mac_with(std::string_view processor) {
  for (const ShippedProfile& shipped : shipped_profiles()) {
    if (shipped.name.starts_with("macos") && shipped.name.ends_with(processor) &&
        shipped.name[shipped.name.size() - processor.size() - 1] == '-')
      return shipped.name;
  }
  return {};
}

std::string hint_for_mac(std::string_view lowered) {
  const std::string processor = apple_processor_in(lowered);
  const std::string_view shipped = processor.empty() ? "" : shipped_mac_with(processor);
  if (shipped.empty()) return {};
  const auto wanted = macos_in(lowered);
  const auto own = macos_in(shipped);
  if (!wanted || wanted == own) return fmt::format("did you mean {}?", shipped);
  const auto first = first_macos_on(fmt::format("Apple M{}", processor.substr(1)));
  if (first && *wanted < first->first) {
    return fmt::format("Macs with an Apple M{} began with macOS {}: did you mean {}?",
                       processor.substr(1), first->first, shipped);
  }
  if (own && *wanted > *own) return fmt::format("did you mean '{};macos:{}'?", shipped, *wanted);
  return fmt::format("did you mean {}, or macos:{} without the processor's name?", shipped,
                     *wanted);
}

}  // namespace

std::string_view own_architecture_word(std::string_view word) {
  const std::string lowered = text::ascii_lower(word);
  const auto* const row =
      std::ranges::find(architecture_words, std::string_view(lowered), &NearName::word);
  return row == std::end(architecture_words) ? word : row->meant;
}

std::string hint_for_name(std::string_view name) {
  constexpr std::size_t longest = 64;
  if (name.size() > longest) return {};
  const std::string wanted = folded(name);
  if (wanted.starts_with("wsl")) {
    return "did you mean wsl-rtx4090? WSL is a Linux, so that a GPU's name or facts describe it, "
           "too;";
  }
  if (std::ranges::find(words_of_32_bits, wanted) != std::end(words_of_32_bits)) {
    return "for a 32-bit Python add --platform win32 (beside --for windows) or --platform "
           "linux_i686;";
  }
  const auto* const row = std::ranges::find(near_names, std::string_view(wanted), &NearName::word);
  if (row != std::end(near_names)) return fmt::format("did you mean {}?", row->meant);
  return hint_for_mac(text::ascii_lower(name));
}

}  // namespace axle::machines
