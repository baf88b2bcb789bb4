#include "binaries/system_runtime.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "foundation/elf/elf_bytes.h"
#include "foundation/elf/elf_dynamic.h"
#include "foundation/elf/elf_tables.h"
#include "wheel/version.h"

namespace axle::binaries {
namespace {

constexpr std::size_t largest_library = 64U << 20;  ///< bytes

constexpr std::array<std::string_view, 13> parts_of_glibc{"libc.so.6",
                                                          "libm.so.6",
                                                          "libmvec.so.1",
                                                          "libpthread.so.0",
                                                          "libdl.so.2",
                                                          "librt.so.1",
                                                          "libutil.so.1",
                                                          "libresolv.so.2",
                                                          "libanl.so.1",
                                                          "ld-linux-x86-64.so.2",
                                                          "ld64.so.2",
                                                          "ld-linux-aarch64.so.1",
                                                          "ld-linux-riscv64-lp64d.so.1"};
constexpr std::array<std::string_view, 2> parts_of_gcc{cxx_runtime, "libgcc_s.so.1"};

/// "GLIBCXX_" and 3.4.30; no number: GLIBC_PRIVATE, CXXABI_FLOAT128.
struct SymbolVersion {
  std::string_view series;
  std::optional<wheel::Version> number;
};

SymbolVersion parse(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  const std::size_t number = std::min(text.find_first_of(digits), text.size());
  SymbolVersion version{text.substr(0, number), std::nullopt};
  const std::string_view rest = text.substr(number);
  if (rest.find_first_not_of("0123456789.") != rest.npos) return version;
  if (auto parsed = wheel::parse_version(rest)) version.number = std::move(*parsed);
  return version;
}

/// The newest of the same series; empty: none.
std::string newest_like(const SymbolVersion& wanted,
                        const std::set<std::string, std::less<>>& versions) {
  std::string newest;
  std::optional<wheel::Version> number;
  for (const std::string& version : versions) {
    SymbolVersion one = parse(version);
    if (one.series != wanted.series || !one.number || (number && *one.number < *number)) continue;
    number = std::move(one.number);
    newest = version;
  }
  return newest;
}

/// nullopt: it is no shared library of that architecture.
std::optional<std::vector<std::string>> versions_in(const std::string& content,
                                                    std::uint16_t architecture) {
  elf::MemoryBytes bytes(content);
  const auto tables = elf::read_tables(bytes);
  if (!tables || tables->machine != architecture) return std::nullopt;
  const auto dynamic = elf::read_dynamic(bytes, *tables);
  if (!dynamic) return std::nullopt;
  auto versions = elf::read_version_definitions(bytes, *tables, *dynamic);
  if (!versions) return std::nullopt;
  return *std::move(versions);
}

}  // namespace

SystemRuntime::SystemRuntime(detect::Libc libc, detect::Host* host,
                             std::vector<std::string> folders)
    : libc_(std::move(libc)), host_(host), folders_(std::move(folders)) {}

std::optional<std::string> SystemRuntime::lacks(const elf::VersionNeed& need,
                                                std::uint16_t architecture) {
  const bool of_glibc = std::ranges::find(parts_of_glibc, need.library) != parts_of_glibc.end();
  if (!of_glibc && std::ranges::find(parts_of_gcc, need.library) == parts_of_gcc.end())
    return std::nullopt;
  const Copies& there = copies_of(need.library, architecture);
  if (there.versions.contains(need.version)) return std::nullopt;
  const SymbolVersion wanted = parse(need.version);
  if (of_glibc && libc_.family == "glibc" && wanted.series == "GLIBC_" && wanted.number) {
    const std::string here = fmt::format("{}.{}", libc_.major, libc_.minor);
    if (const auto number = wheel::parse_version(here); number && *number < *wanted.number)
      return fmt::format("this machine has glibc {}", here);
  }
  // The loader asks nothing of a library without versions.
  if (there.versions.empty()) return std::nullopt;
  const std::string newest = newest_like(wanted, there.versions);
  return newest.empty() || !wanted.number
             ? fmt::format("which {} lacks", there.path)
             : fmt::format("this machine has {} ({})", newest, there.path);
}

bool SystemRuntime::is_absent(std::string_view library, std::uint16_t architecture) {
  return host_ != nullptr && copies_of(library, architecture).path.empty();
}

const SystemRuntime::Copies& SystemRuntime::copies_of(std::string_view library,
                                                      std::uint16_t architecture) {
  const auto [known, is_new] = copies_.try_emplace(std::pair(std::string(library), architecture));
  Copies& copies = known->second;
  if (!is_new || host_ == nullptr) return copies;
  if (!search_) search_.emplace(*host_);
  std::vector<std::string> paths;
  for (const std::string& folder : folders_) paths.push_back(fmt::format("{}/{}", folder, library));
  for (std::string& path : search_->find_all(library)) paths.push_back(std::move(path));
  for (std::string& path : paths) {
    const auto content = host_->read_file(path, largest_library);
    const auto versions = content ? versions_in(*content, architecture) : std::nullopt;
    if (!versions) continue;
    copies.versions.insert(versions->begin(), versions->end());
    if (copies.path.empty()) copies.path = std::move(path);
  }
  return copies;
}

}  // namespace axle::binaries
