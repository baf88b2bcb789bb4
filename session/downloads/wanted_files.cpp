#include "session/downloads/wanted_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "index/http/redaction.h"

namespace axle::session {

namespace {

/// As a file of its own.
plan::ResolvedPackage variants_file_of(const plan::ResolvedPackage& package) {
  plan::ResolvedPackage file;
  file.name = package.name;
  file.version = package.version;
  file.filename = package.variants_file->filename;
  file.url = package.variants_file->url;
  file.hash = package.variants_file->hash;
  file.source = package.source;
  return file;
}

/// The same bytes, as far as the indexes say it.
bool is_same(const plan::ResolvedPackage& one, const plan::ResolvedPackage& other) {
  if (one.url == other.url) return true;
  return one.hash.is_checkable() && one.hash.algorithm == other.hash.algorithm &&
         one.hash.digits == other.hash.digits;
}

Result<void> add(std::vector<WantedFile>& wanted, plan::ResolvedPackage file,
                 const std::string& machine, bool is_variants_file) {
  const auto same = std::ranges::find(wanted, file.filename,
                                      [](const WantedFile& one) { return one.file.filename; });
  if (same == wanted.end()) {
    wanted.push_back({std::move(file), is_variants_file, {machine}});
    return {};
  }
  if (!is_same(same->file, file)) {
    return fail(ErrorKind::conflict,
                fmt::format("{} is needed twice, with different content: {} for {}, {} for {}",
                            file.filename, index::redact_url(same->file.url),
                            fmt::join(same->machines, ", "), index::redact_url(file.url), machine),
                "download into a folder of its own for each of these machines");
  }
  if (std::ranges::find(same->machines, machine) == same->machines.end())
    same->machines.push_back(machine);
  return {};
}

}  // namespace

Result<void> add_wanted(std::vector<WantedFile>& wanted, const plan::Resolution& resolution,
                        const std::string& machine) {
  for (const plan::ResolvedPackage& package : resolution.packages) {
    if (auto added = add(wanted, package, machine, false); !added) return added;
    if (!package.variants_file) continue;
    if (auto added = add(wanted, variants_file_of(package), machine, true); !added) return added;
  }
  return {};
}

}  // namespace axle::session
