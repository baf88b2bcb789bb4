#include "installer/transaction/repair.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "foundation/system/shell_command.h"
#include "index/http/redaction.h"
#include "installer/environment/installed_scan.h"
#include "installer/file_access.h"
#include "wheel/core_metadata.h"
#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::installer {
namespace {

constexpr std::string_view ending = ".dist-info";
constexpr std::uint64_t metadata_limit = 64U << 20;

/// Why METADATA cannot be used; nullopt: it can. A system error says nothing about its content.
std::optional<Error> damage_of(const std::string& path) {
  const auto text = read_file(path, metadata_limit);
  if (!text) return text.error();
  auto metadata = wheel::parse_core_metadata(*text, path);
  return metadata ? std::nullopt : std::optional(std::move(metadata).error());
}

/// "demo-1.0.dist-info"; nullopt: the name is not standard-conforming.
std::optional<std::pair<std::string, wheel::Version>> split_folder_name(std::string_view folder) {
  if (!folder.ends_with(ending) || folder.starts_with('~')) return std::nullopt;
  folder.remove_suffix(ending.size());
  const std::size_t hyphen = folder.find('-');
  if (hyphen == std::string_view::npos) return std::nullopt;
  auto version = wheel::parse_version(folder.substr(hyphen + 1));
  if (!version) return std::nullopt;
  return std::pair(wheel::normalize_name(folder.substr(0, hyphen)), std::move(*version));
}

/// Where it came from that is no index (direct_url.json); empty: it came from one.
std::string place_of(const InstalledDistribution& distribution) {
  const auto document = nlohmann::json::parse(distribution.direct_url, nullptr, false);
  if (!document.is_object()) return {};
  const auto url = document.find("url");
  return url != document.end() && url->is_string() ? index::redact_url(url->get<std::string>())
                                                   : std::string();
}

}  // namespace

bool is_repairable(const InstalledDistribution& distribution) {
  constexpr std::array<std::string_view, 4> known = {"", "axle", "pip", "uv"};
  return distribution.dist_info.ends_with(ending) &&
         std::ranges::find(known, distribution.installer) != known.end();
}

std::string repair_command(const InstalledDistribution& distribution) {
  // An index may have another package of that name and version.
  if (const std::string place = place_of(distribution); !place.empty())
    return fmt::format("installing {} from {} again", distribution.name, place);
  return fmt::format("`variant install --reinstall --no-deps {}`",
                     shell_word(fmt::format("{}=={}", distribution.name,
                                            wheel::render_version(distribution.metadata.version))));
}

void add_stand_ins(const plan::ResolvedPackage& package, const NewPackage& entering,
                   const std::vector<InstalledDistribution>& leaving,
                   const std::vector<InstalledDistribution>& damaged, StandIns& stand_ins) {
  const auto add = [&](const InstalledDistribution& distribution) {
    std::vector<std::string>& files = stand_ins[distribution.dist_info];
    if (distribution.metadata.version != package.version) return;
    for (const NewFile& file : entering.files) files.push_back(file.target);
  };
  bool older = false;  // of several with one name only the first counts
  for (const InstalledDistribution& distribution : leaving) {
    if (distribution.name != package.name) continue;
    const bool same = distribution.metadata.version == package.version;
    if (is_repairable(distribution) && (same || older)) add(distribution);
    older = true;
  }
  for (const InstalledDistribution& distribution : damaged) {
    if (distribution.name == package.name) add(distribution);
  }
}

Result<std::vector<InstalledDistribution>> scan_damaged(const Roots& roots,
                                                        const std::set<std::string>& names) {
  std::vector<InstalledDistribution> damaged;
  for (const std::string& site : std::set<std::string>{roots.purelib, roots.platlib}) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(site, error), end; !error && entry != end;
         entry.increment(error)) {
      auto split = split_folder_name(entry->path().filename().string());
      if (!split || !names.contains(split->first)) continue;
      const std::string folder = entry->path().string();
      const auto damage = damage_of(folder + "/METADATA");
      if (!damage) continue;
      if (damage->kind == ErrorKind::io) return std::unexpected(*damage);
      const auto record = look_at(folder + "/RECORD", Links::followed);
      if (!record) return std::unexpected(record.error());
      InstalledDistribution distribution;
      distribution.name = std::move(split->first);
      distribution.metadata.version = std::move(split->second);
      distribution.dist_info = folder;
      distribution.has_record = *record && S_ISREG((*record)->st_mode);
      damaged.push_back(std::move(distribution));
    }
    if (error && !says_absent(error.value()))
      return std::unexpected(system_error("read", site, error.value()));
  }
  return damaged;
}

Result<std::vector<DamagedFolder>> find_damaged_folders(const Environment& environment) {
  const auto roots = find_roots(environment);
  if (!roots) return std::unexpected(roots.error());
  std::vector<DamagedFolder> found;
  for (const std::string& site : std::set<std::string>{roots->purelib, roots->platlib}) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(site, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.ends_with(ending)) continue;
      const std::string folder = entry->path().string();
      if (name.starts_with('~')) {
        found.push_back({DamagedFolder::Kind::left_by_pip, folder, "", "",
                         "pip was interrupted while removing the package"});
        continue;
      }
      auto damage = damage_of(folder + "/METADATA");
      if (!damage) continue;
      const bool denied = damage->kind == ErrorKind::io;
      DamagedFolder damaged{denied ? DamagedFolder::Kind::denied : DamagedFolder::Kind::unreadable,
                            folder, "", "", damage->message};
      if (auto split = split_folder_name(name)) {
        damaged.name = std::move(split->first);
        damaged.version = wheel::render_version(split->second);
      }
      found.push_back(std::move(damaged));
    }
  }
  CollectedReport said_above;
  const auto installed = scan_installed(*roots, said_above);
  if (!installed) return std::unexpected(installed.error());
  for (std::size_t i = 1; i < installed->size(); ++i) {
    const InstalledDistribution& older = (*installed)[i];
    const InstalledDistribution& newer = (*installed)[i - 1];
    if (older.name != newer.name) continue;
    found.push_back({DamagedFolder::Kind::older_double, older.dist_info, older.name,
                     wheel::render_version(older.metadata.version), newer.dist_info + " counts"});
  }
  return found;
}

}  // namespace axle::installer
