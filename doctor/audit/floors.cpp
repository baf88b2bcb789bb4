#include "doctor/audit/floors.h"

#include <algorithm>

#include <fmt/core.h>

#include "binaries/platform_policy.h"

namespace axle::doctor {
namespace {

void take_version(const elf::VersionNeed& need, const std::string& file, SystemFloor& floor) {
  if (!binaries::is_platform_version(need.version)) return;
  const NewestVersion found{need.version, need.library, file};
  const auto glibc = binaries::glibc_of_version(need.version);
  if (!glibc) {
    const bool known = std::ranges::any_of(
        floor.unknown, [&](const NewestVersion& one) { return one.version == need.version; });
    if (!known) floor.unknown.push_back(found);
    return;
  }
  NewestVersion& newest =
      floor.newest.try_emplace(std::string(binaries::version_family(need.version)), found)
          .first->second;
  if (binaries::is_older_version(newest.version, need.version)) newest = found;
  if (*glibc > floor.glibc_minor) {
    floor.glibc_minor = *glibc;
    floor.reason = found;
  }
}

}  // namespace

std::string_view libc_of_library(std::string_view name) {
  if (name == "libc.so.6") return "glibc";
  return name == "libc.so" || name.starts_with("libc.musl-") ? "musl" : std::string_view();
}

SystemFloor system_floor(const Audited& audited) {
  SystemFloor floor;
  const OwnNames own(audited);
  for (const AuditedLibrary& library : audited.libraries) {
    for (const std::string& needed : library.facts.needed) {
      floor.glibc = floor.glibc || libc_of_library(needed) == "glibc";
      floor.musl = floor.musl || libc_of_library(needed) == "musl";
      const auto since = binaries::system_library_since(needed);
      if (!since || *since <= floor.glibc_minor || own.has(needed)) continue;
      floor.glibc_minor = *since;
      floor.reason = {"", needed, library.path};
    }
    for (const elf::VersionNeed& need : library.linkage.version_needs) {
      if (need.weak || own.has(need.library)) continue;
      take_version(need, library.path, floor);
    }
  }
  return floor;
}

std::string oldest_platform(const SystemFloor& floor, const std::string& architecture) {
  if (architecture.empty() || !floor.unknown.empty() || floor.musl) return {};
  return fmt::format("manylinux_2_{}_{}",
                     std::max(floor.glibc_minor, binaries::oldest_manylinux(architecture)),
                     architecture);
}

std::string main_architecture(const Audited& audited) {
  std::map<std::string, std::size_t> counts;
  for (const AuditedLibrary& library : audited.libraries) ++counts[library.facts.architecture];
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  return most == counts.end() ? std::string() : most->first;
}

}  // namespace axle::doctor
