#include "installer/environment/record_places.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "installer/environment/ownership.h"

namespace axle::installer {
namespace {

/// What is written before the last slash, and behind it.
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {{}, path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

bool is_plain_name(std::string_view name) { return !name.empty() && name != "." && name != ".."; }

class PlaceFinder {
 public:
  PlaceFinder(const InstalledDistribution& distribution, const Roots& roots, PathResolver& resolver)
      : distribution_(distribution), roots_(roots), resolver_(resolver) {}

  Result<void> add(std::string_view listed) {
    const auto [folder, name] = split(listed);
    // Next to the row before, as a rule: it leads to the same folder.
    if (last_ && is_plain_name(name) && folder == last_written_ &&
        listed.starts_with('/') == last_absolute_) {
      places_.files.push_back({*last_, std::string(name)});
      return {};
    }
    last_.reset();
    auto target = record_target(distribution_, listed, resolver_);
    if (!target) return std::unexpected(std::move(target.error()));
    if (!*target || roots_.is_reserved(**target)) {
      places_.kept.push_back({std::string(listed), !*target});
      return {};
    }
    const auto [place, last_part] = split(**target);
    const std::uint32_t number = number_of(place);
    places_.files.push_back({number, std::string(last_part)});
    if (is_plain_name(name) && !roots_.may_have_reserved(place)) {
      last_ = number;
      last_written_ = folder;
      last_absolute_ = listed.starts_with('/');
    }
    return {};
  }

  RecordPlaces take() { return std::move(places_); }

 private:
  std::uint32_t number_of(std::string_view folder) {
    const auto [known, is_new] =
        numbers_.try_emplace(std::string(folder), static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) places_.folders.emplace_back(folder);
    return known->second;
  }

  const InstalledDistribution& distribution_;
  const Roots& roots_;
  PathResolver& resolver_;
  RecordPlaces places_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  /// Of the folder of the last row, if nothing in it is reserved, and how RECORD writes it.
  std::optional<std::uint32_t> last_;
  std::string last_written_;
  bool last_absolute_ = false;
};

}  // namespace

Result<RecordPlaces> find_places(const InstalledDistribution& distribution, std::string_view record,
                                 const Roots& roots, PathResolver& resolver) {
  PlaceFinder finder(distribution, roots, resolver);
  Result<void> found;
  auto read = for_each_record_row(distribution, record, [&](const wheel::RecordRow& row) {
    if (found) found = finder.add(row.path);
  });
  if (!read) return std::unexpected(std::move(read.error()));
  if (!found) return std::unexpected(std::move(found.error()));
  return finder.take();
}

std::vector<std::string> guess_folders(const InstalledDistribution& distribution,
                                       std::string_view record) {
  const std::string site = distribution.dist_info.substr(0, distribution.dist_info.rfind('/'));
  std::unordered_set<std::string_view> known;
  std::vector<std::string> folders;
  std::string_view last;
  while (!record.empty()) {
    const std::string_view line = record.substr(0, record.find('\n'));
    record.remove_prefix(std::min(record.size(), line.size() + 1));
    const std::string_view folder = split(line.substr(0, line.find(','))).first;
    if (folder.empty() || folder == last || folder.starts_with('/') || folder.starts_with('"') ||
        folder.contains("//") || folder.contains("./") || folder.ends_with('/') ||
        folder.ends_with('.'))
      continue;
    last = folder;
    if (known.insert(folder).second) folders.push_back(fmt::format("{}/{}", site, folder));
  }
  return folders;
}

}  // namespace axle::installer
