#include "installer/environment/ownership.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "installer/file_access.h"
#include "installer/try_each.h"

namespace axle::installer {
namespace {

constexpr std::uint64_t record_limit = 256U << 20;

/// A text that every RECORD line for `path` contains, however the path is written. CSV doubles
/// quotes: only the part before a quote is used.
std::string_view telling_part(std::string_view path, const Roots& roots) {
  for (const std::string* site : {&roots.purelib, &roots.platlib}) {
    if (!contains_path(*site, path) || path.size() == site->size()) continue;
    const std::string_view relative = path.substr(site->size() + 1);
    return relative.substr(0, relative.find_first_of("/\""));
  }
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.find('"'));
}

}  // namespace

Result<std::vector<wheel::RecordEntry>> read_record(const InstalledDistribution& distribution) {
  const std::string path = distribution.dist_info + "/RECORD";
  auto text = read_file(path, record_limit);
  if (!text) return std::unexpected(text.error());
  auto entries = wheel::parse_record(*text, path);
  // It lists at least itself: an empty one was emptied, and would pass every check as owner of
  // nothing.
  if (entries && entries->empty())
    return fail(ErrorKind::malformed, fmt::format("{}: it lists no file", path));
  return entries;
}

Result<std::optional<std::string>> record_target(const InstalledDistribution& distribution,
                                                 const wheel::RecordEntry& entry,
                                                 PathResolver& resolver) {
  if (entry.path.starts_with('/')) return resolver.resolve(entry.path);
  const std::string_view site =
      std::string_view(distribution.dist_info).substr(0, distribution.dist_info.rfind('/'));
  std::string path;
  path.reserve(site.size() + 1 + entry.path.size());
  return resolver.resolve(path.append(site).append("/").append(entry.path));
}

std::string Owner::title() const {
  return fmt::format("{} {}", distribution->name,
                     wheel::render_version(distribution->metadata.version));
}

Result<std::unordered_map<std::string, std::vector<Owner>>> find_owners(
    const std::unordered_set<std::string>& paths,
    const std::vector<InstalledDistribution>& distributions, const Roots& roots) {
  std::set<std::string_view> parts;
  for (const std::string& path : paths) parts.insert(telling_part(path, roots));
  std::vector<std::vector<std::pair<std::string, Owner>>> owned(distributions.size());
  const auto look_into = [&](std::size_t i) -> Result<void> {
    const InstalledDistribution& distribution = distributions[i];
    const std::string record = distribution.dist_info + "/RECORD";
    const auto text = read_file(record, record_limit);
    if (!text && text.error().kind == ErrorKind::io) return std::unexpected(text.error());
    if (!text ||
        std::ranges::none_of(parts, [&](std::string_view part) { return text->contains(part); })) {
      return {};
    }
    const auto entries = wheel::parse_record(*text, record);
    if (!entries) return {};
    PathResolver resolver(roots);
    for (const wheel::RecordEntry& entry : *entries) {
      auto target = record_target(distribution, entry, resolver);
      if (!target) return std::unexpected(target.error());
      if (*target && paths.contains(**target))
        owned[i].emplace_back(std::move(**target), Owner{&distribution, entry.sha256, entry.size});
    }
    return {};
  };
  if (auto done = try_each(distributions.size(), look_into); !done)
    return std::unexpected(std::move(done.error()));
  std::unordered_map<std::string, std::vector<Owner>> owners;
  for (auto& of_one : owned) {
    for (auto& [path, owner] : of_one) owners[std::move(path)].push_back(std::move(owner));
  }
  return owners;
}

}  // namespace axle::installer
