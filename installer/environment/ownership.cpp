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

/// Finds the lines of RECORDs that may be of some paths, without parsing the others: those of large
/// packages have thousands.
class LinesOfPaths {
 public:
  /// `paths` are those of find_owners, and must outlive it.
  LinesOfPaths(const std::unordered_set<std::string>& paths, const Roots& roots) {
    for (const std::string& path : paths) parts_.insert(telling_part(path, roots));
  }

  /// The lines of a RECORD that may be of one of the paths; all of it where a field has quotes,
  /// which may have lines of its own, or where lines may end otherwise.
  [[nodiscard]] std::string possible_in(std::string_view record) const {
    if (!has_part(record)) return {};
    if (record.contains('"') || record.contains('\r')) return std::string(record);
    std::string possible;
    while (!record.empty()) {
      const std::size_t end = std::min(record.find('\n'), record.size() - 1) + 1;
      const std::string_view line = record.substr(0, end);
      if (may_be_of_one(line.substr(0, line.find(',')))) possible += line;
      record.remove_prefix(end);
    }
    return possible;
  }

 private:
  [[nodiscard]] bool has_part(std::string_view text) const {
    return std::ranges::any_of(parts_, [&](std::string_view part) { return text.contains(part); });
  }

  [[nodiscard]] bool may_be_of_one(std::string_view path) const {
    // Written as most are: what it begins with is in the site itself.
    const bool is_plain = !path.starts_with('/') && !path.contains("./") && !path.contains("//");
    return is_plain ? parts_.contains(path.substr(0, path.find_first_of("/\n"))) : has_part(path);
  }

  std::set<std::string_view> parts_;
};

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
  const LinesOfPaths lines(paths, roots);
  std::vector<std::vector<std::pair<std::string, Owner>>> owned(distributions.size());
  const auto look_into = [&](std::size_t i) -> Result<void> {
    const InstalledDistribution& distribution = distributions[i];
    const std::string record = distribution.dist_info + "/RECORD";
    const auto text = read_file(record, record_limit);
    if (!text && text.error().kind == ErrorKind::io) return std::unexpected(text.error());
    const std::string possible = text ? lines.possible_in(*text) : std::string();
    if (possible.empty()) return {};
    const auto entries = wheel::parse_record(possible, record);
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
