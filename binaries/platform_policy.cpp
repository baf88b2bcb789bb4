#include "binaries/platform_policy.h"

#include <algorithm>
#include <charconv>

namespace axle::binaries {
namespace {

using Version = std::vector<unsigned>;

struct SystemLibrary {
  std::string_view name;
  unsigned since;  ///< glibc 2.N
};

constexpr SystemLibrary system_libraries[] = {
    {"libc.so.6", 5},
    {"libm.so.6", 5},
    {"libdl.so.2", 5},
    {"librt.so.1", 5},
    {"libpthread.so.0", 5},
    {"libnsl.so.1", 5},
    {"libutil.so.1", 5},
    {"libresolv.so.2", 5},
    {"libanl.so.1", 5},
    {"libgcc_s.so.1", 5},
    {"libstdc++.so.6", 5},
    {"libatomic.so.1", 5},
    {"libX11.so.6", 5},
    {"libXext.so.6", 5},
    {"libXrender.so.1", 5},
    {"libICE.so.6", 5},
    {"libSM.so.6", 5},
    {"libGL.so.1", 5},
    {"libz.so.1", 5},
    {"libglib-2.0.so.0", 5},
    {"libgobject-2.0.so.0", 5},
    {"libexpat.so.1", 12},
    {"libgthread-2.0.so.0", 5},
    {"libmvec.so.1", 24},
    {"ld-linux-x86-64.so.2", 5},
    {"ld-linux-aarch64.so.1", 17},
};

struct RuntimeVersion {
  std::string_view prefix;
  Version version;  ///< the newest for that `glibc`
  unsigned glibc_minor;
};

// The C++ and GCC runtime libraries and zlib of the distributions that manylinux_2_N covers: a
// newer symbol needs a newer distribution, whose glibc then determines the tag. Oldest first.
const std::vector<RuntimeVersion>& runtime_versions() {
  static const std::vector<RuntimeVersion> versions{
      {"GLIBCXX_", {3, 4, 8}, 5},   {"GLIBCXX_", {3, 4, 13}, 12}, {"GLIBCXX_", {3, 4, 19}, 17},
      {"GLIBCXX_", {3, 4, 22}, 24}, {"GLIBCXX_", {3, 4, 24}, 27}, {"GLIBCXX_", {3, 4, 25}, 28},
      {"GLIBCXX_", {3, 4, 28}, 31}, {"GLIBCXX_", {3, 4, 29}, 34}, {"GLIBCXX_", {3, 4, 30}, 35},
      {"GLIBCXX_", {3, 4, 32}, 38}, {"GLIBCXX_", {3, 4, 33}, 39}, {"CXXABI_", {1, 3, 1}, 5},
      {"CXXABI_", {1, 3, 3}, 12},   {"CXXABI_", {1, 3, 7}, 17},   {"CXXABI_", {1, 3, 10}, 24},
      {"CXXABI_", {1, 3, 11}, 27},  {"CXXABI_", {1, 3, 12}, 31},  {"CXXABI_", {1, 3, 13}, 34},
      {"CXXABI_", {1, 3, 14}, 38},  {"CXXABI_", {1, 3, 15}, 39},  {"GCC_", {4, 2, 0}, 5},
      {"GCC_", {4, 3, 0}, 12},      {"GCC_", {4, 8, 0}, 17},      {"GCC_", {7, 0, 0}, 27},
      {"GCC_", {12, 0, 0}, 35},     {"GCC_", {13, 0, 0}, 38},     {"GCC_", {14, 0, 0}, 39},
      {"ZLIB_", {1, 2, 2, 4}, 12},  {"ZLIB_", {1, 2, 5, 2}, 17},  {"ZLIB_", {1, 2, 9}, 27},
      {"ZLIB_", {1, 2, 12}, 37},    {"LIBATOMIC_", {1, 0}, 17},   {"LIBATOMIC_", {1, 2}, 24},
  };
  return versions;
}

std::optional<Version> parse_numbers(std::string_view text) {
  Version version;
  while (true) {
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number > 9999) return std::nullopt;
    version.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
    if (text.empty()) return version;
    if (text.front() != '.') return std::nullopt;
    text.remove_prefix(1);
  }
}

constexpr std::string_view glibc = "GLIBC_";

/// Versions without a number, by the first glibc or compiler that has them.
std::optional<unsigned> glibc_of_word(std::string_view version) {
  if (version == "GLIBC_ABI_DT_RELR") return 36;
  if (version == "CXXABI_TM_1" || version == "CXXABI_FLOAT128") return 17;
  return std::nullopt;
}

}  // namespace

std::optional<unsigned> system_library_since(std::string_view name) {
  const auto* const found = std::ranges::find(system_libraries, name, &SystemLibrary::name);
  if (found == std::end(system_libraries)) return std::nullopt;
  return found->since;
}

bool is_musl_library(std::string_view name) {
  return name == "libc.so" || name == "libz.so.1" || name.starts_with("libc.musl-") ||
         name.starts_with("ld-musl-");
}

bool is_platform_version(std::string_view version) {
  return version.starts_with(glibc) ||
         std::ranges::any_of(runtime_versions(), [&](const RuntimeVersion& row) {
           return version.starts_with(row.prefix);
         });
}

std::optional<unsigned> glibc_of_version(std::string_view version) {
  if (const auto known = glibc_of_word(version)) return known;
  if (version.starts_with(glibc)) {
    const auto numbers = parse_numbers(version.substr(glibc.size()));
    if (!numbers || numbers->size() < 2 || numbers->front() != 2) return std::nullopt;
    return (*numbers)[1];
  }
  for (const RuntimeVersion& row : runtime_versions()) {
    if (!version.starts_with(row.prefix)) continue;
    auto numbers = parse_numbers(version.substr(row.prefix.size()));
    if (!numbers) return std::nullopt;
    if (*numbers <= row.version) return row.glibc_minor;
  }
  return std::nullopt;
}

std::string_view version_family(std::string_view version) {
  return version.substr(0, version.find('_'));
}

bool is_older_version(std::string_view left, std::string_view right) {
  const std::string_view family = version_family(left);
  if (family != version_family(right)) return false;
  const auto numbers = [&](std::string_view text) {
    return parse_numbers(text.substr(std::min(text.size(), family.size() + 1)));
  };
  const auto first = numbers(left);
  const auto second = numbers(right);
  return !first || (second && *first < *second);
}

unsigned oldest_manylinux(std::string_view architecture) {
  // PEP 600 starts at the oldest glibc of any manylinux.
  return architecture == "x86_64" ? 5 : 17;
}

}  // namespace axle::binaries
