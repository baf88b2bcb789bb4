#include <algorithm>
#include <array>

#include "binaries/instruction_scan.h"

namespace axle::binaries {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// Words are separated by anything that is not a letter: "libx_avx512.so" has x, avx, so.
bool has_cpu_word(std::string_view file) {
  constexpr std::array<std::string_view, 26> words = {
      "avx",         "sse",        "ssse",       "fma",       "haswell",        "broadwell",
      "skylake",     "skylakex",   "skx",        "icelake",   "sapphirerapids", "alderlake",
      "cascadelake", "cooperlake", "cannonlake", "ivybridge", "sandybridge",    "nehalem",
      "znver",       "zen",        "piledriver", "neon",      "asimd",          "sve",
      "sme",         "dotprod"};
  while (!file.empty()) {
    const auto end = std::ranges::find_if_not(file, is_letter);
    const auto size = static_cast<std::size_t>(end - file.begin());
    if (std::ranges::find(words, file.substr(0, size)) != words.end()) return true;
    file.remove_prefix(std::min(file.size(), size + 1));
  }
  return false;
}

/// "x86-64-v3", "x86_64_v3".
bool has_cpu_level(std::string_view file) {
  constexpr std::string_view word = "x86-64-v";
  std::string text(file);
  std::ranges::replace(text, '_', '-');
  const std::size_t at = text.find(word);
  if (at == std::string::npos) return false;
  const std::string_view rest = std::string_view(text).substr(at + word.size());
  return !rest.empty() && rest[0] >= '2' && rest[0] <= '4' &&
         (rest.size() == 1 || rest[1] == '-' || rest[1] == '.');
}

}  // namespace

bool is_chosen_by_cpu(std::string_view path) {
  std::string file(path.substr(path.rfind('/') + 1));
  std::ranges::transform(file, file.begin(), lower);
  if (file.starts_with("lib")) file.erase(0, 3);
  return path.contains("glibc-hwcaps/") || has_cpu_word(file) || has_cpu_level(file);
}

}  // namespace axle::binaries
