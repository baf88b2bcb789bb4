#include "installer/transaction/overwriting.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "installer/environment/overwritten.h"
#include "installer/environment/ownership.h"
#include "installer/transaction/repair.h"
#include "installer/tree/byte_code_names.h"
#include "wheel/record.h"
#include "wheel/requirement.h"

namespace axle::installer {
namespace {

std::string_view site_of(std::string_view dist_info) {
  return dist_info.substr(0, dist_info.rfind('/'));
}

/// "…/demo/__pycache__/a.cpython-311.pyc" -> "…/demo/a.py".
std::string module_of(std::string_view byte_code) {
  const std::size_t name = byte_code.rfind('/');
  const std::size_t folder = byte_code.rfind('/', name - 1);
  return fmt::format("{}{}.py", byte_code.substr(0, folder + 1),
                     byte_code_stem(byte_code.substr(name + 1)));
}

using LostFiles = std::map<std::string_view, const LostFile*>;  ///< by their paths

LostFiles by_path(const std::vector<LostFile>& lost) {
  LostFiles files;
  for (const LostFile& file : lost) files.insert_or_assign(file.path, &file);
  return files;
}

void rewrite_entry(wheel::RecordEntry& entry, const LostFile& lost, OverwrittenFiles& files) {
  files.insert_or_assign(entry.path, lost.to);
  entry.sha256 = lost.sha256;
  entry.stronger_hash.clear();
  entry.size = lost.size;
}

/// The list of `files` and the RECORD with `entries`, which names it too.
std::vector<NewFile> metadata_with(std::vector<wheel::RecordEntry> entries,
                                   const OverwrittenFiles& files, const std::string& dist_info) {
  NewFile list = written_file(fmt::format("{}/{}", dist_info, overwritten_file),
                              render_overwritten(files), false);
  const std::string path = record_path(site_of(dist_info), list.target);
  std::erase_if(entries, [&](const wheel::RecordEntry& entry) { return entry.path == path; });
  // RECORD itself is the last line.
  entries.insert(std::prev(entries.end()), {path, list.sha256, list.size, {}});
  NewFile record = written_file(dist_info + "/RECORD", wheel::render_record(entries), false);
  std::vector<NewFile> both;
  both.push_back(std::move(record));
  both.push_back(std::move(list));
  return both;
}

/// A new package without the files that others have in its place.
Result<void> lose(NewPackage& package, const std::vector<LostFile>& lost) {
  const LostFiles files = by_path(lost);
  const auto record =
      std::ranges::find(package.files, package.dist_info + "/RECORD", &NewFile::target);
  auto entries = wheel::parse_record(record->content, record->target);
  if (!entries) return std::unexpected(entries.error());
  std::map<std::string, const LostFile*> listed;
  for (const auto& [path, file] : files)
    listed.emplace(record_path(site_of(package.dist_info), path), file);
  OverwrittenFiles overwritten;
  for (wheel::RecordEntry& entry : *entries) {
    if (const auto found = listed.find(entry.path); found != listed.end())
      rewrite_entry(entry, *found->second, overwritten);
  }
  std::vector<NewFile> metadata =
      metadata_with(std::move(*entries), overwritten, package.dist_info);
  *record = std::move(metadata.front());
  std::erase_if(package.files, [&](const NewFile& file) {
    return files.contains(file.byte_code ? module_of(file.target) : file.target);
  });
  package.files.push_back(std::move(metadata.back()));
  return {};
}

/// A file of one of the new packages.
struct Claim {
  std::size_t package;
  std::size_t file;
};

class Settlement {
 public:
  Settlement(std::vector<NewPackage>& entering, const OverwriteConsent& consent,
             std::vector<OverwrittenPath>& overwritten)
      : entering_(entering), consent_(consent), overwritten_(overwritten), lost_(entering.size()) {}

  void settle_among_new(const std::vector<std::size_t>& order) {
    std::unordered_map<std::string_view, Claim> first;
    std::map<std::string_view, std::vector<Claim>> several;
    for (const std::size_t package : order) {
      for (std::size_t i = 0; i < entering_[package].files.size(); ++i) {
        const NewFile& file = entering_[package].files[i];
        if (file.byte_code) continue;
        const auto [known, fresh] = first.try_emplace(file.target, Claim{package, i});
        if (fresh) continue;
        std::vector<Claim>& claims = several[file.target];
        if (claims.empty()) claims.push_back(known->second);
        claims.push_back({package, i});
      }
    }
    for (const auto& [path, claims] : several) settle(std::string(path), claims);
  }

  Result<void> settle_with_staying(const std::vector<InstalledDistribution>& staying,
                                   const Roots& roots) {
    std::unordered_set<std::string> paths;
    for (const NewPackage& package : entering_) {
      for (const NewFile& file : package.files) {
        const bool others = !file.byte_code && consent_.is_settled(file.target) &&
                            !consent_.has_settled(file.target, package.name);
        if (others) paths.insert(file.target);
      }
    }
    if (paths.empty()) return {};
    const auto owners = find_owners(paths, staying, roots);
    if (!owners) return std::unexpected(owners.error());
    for (std::size_t i = 0; i < entering_.size(); ++i) {
      for (const NewFile& file : entering_[i].files) {
        const auto known = owners->find(file.target);
        if (file.byte_code || known == owners->end()) continue;
        const auto owner = std::ranges::find_if(known->second, [&](const Owner& one) {
          return consent_.has_settled(file.target, one.distribution->name);
        });
        if (owner == known->second.end() || owner->sha256.empty() || owner->sha256 == file.sha256)
          continue;
        lost_[i].push_back({file.target, owner->distribution->name, owner->sha256, owner->size});
        overwritten_.push_back({file.target, owner->title(), entering_[i].title});
      }
    }
    return {};
  }

  Result<void> apply() {
    for (std::size_t i = 0; i < entering_.size(); ++i) {
      if (lost_[i].empty()) continue;
      if (auto done = lose(entering_[i], lost_[i]); !done) return done;
    }
    return {};
  }

 private:
  void settle(const std::string& path, const std::vector<Claim>& claims) {
    auto winner = claims.end();
    if (consent_.keeps_settled()) {
      winner = std::ranges::find_if(claims, [&](const Claim& claim) {
        return consent_.has_settled(path, entering_[claim.package].name);
      });
    }
    if (winner == claims.end()) {
      if (!consent_.is_for_all()) return;
      winner = std::prev(claims.end());
    }
    const NewPackage& by = entering_[winner->package];
    const NewFile& file = by.files[winner->file];
    for (const Claim& claim : claims) {
      const NewFile& other = entering_[claim.package].files[claim.file];
      if (other.sha256 == file.sha256 && other.size == file.size) continue;
      lost_[claim.package].push_back({path, by.name, file.sha256, file.size});
      overwritten_.push_back({path, by.title, entering_[claim.package].title});
    }
  }

  std::vector<NewPackage>& entering_;
  const OverwriteConsent& consent_;
  std::vector<OverwrittenPath>& overwritten_;
  std::vector<std::vector<LostFile>> lost_;  ///< of each new package
};

}  // namespace

Result<OverwriteConsent> OverwriteConsent::read(bool all,
                                                const std::vector<InstalledDistribution>& installed,
                                                const Roots& roots) {
  OverwriteConsent consent;
  consent.all_ = all;
  PathResolver resolver(roots);
  for (const InstalledDistribution& distribution : installed) {
    auto files = read_overwritten(distribution.dist_info);
    // What cannot be read consents to nothing.
    if (!files && files.error().kind == ErrorKind::io) return std::unexpected(files.error());
    if (!files || files->empty()) continue;
    for (const auto& [path, owner] : *files) {
      const bool there =
          std::ranges::find(installed, owner, &InstalledDistribution::name) != installed.end();
      const auto target = there ? record_target(distribution, path, resolver)
                                : Result<std::optional<std::string>>(std::nullopt);
      if (!target) return std::unexpected(target.error());
      if (*target) consent.settled_.insert_or_assign(**target, owner);
    }
    consent.lists_.emplace(distribution.dist_info, std::move(*files));
  }
  return consent;
}

void OverwriteConsent::restore(const OverwrittenFiles& files, std::string_view site) {
  restores_ = true;
  for (const auto& [path, owner] : files) {
    const std::filesystem::path target = std::filesystem::path(site) / path;
    settled_.insert_or_assign(target.lexically_normal().string(), owner);
  }
}

std::vector<std::size_t> installation_order(
    const std::vector<const plan::ResolvedPackage*>& packages) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < packages.size(); ++i) places.emplace(packages[i]->name, i);
  std::vector<std::set<std::size_t>> waits_for(packages.size());
  for (std::size_t i = 0; i < packages.size(); ++i) {
    for (const wheel::Requirement& requirement : packages[i]->dependencies) {
      const auto place = places.find(wheel::normalize_name(requirement.name));
      if (place != places.end() && place->second != i) waits_for[i].insert(place->second);
    }
  }
  std::set<std::tuple<bool, std::string_view, std::size_t>> left;
  for (std::size_t i = 0; i < packages.size(); ++i)
    left.emplace(packages[i]->requested, packages[i]->name, i);
  std::vector<std::size_t> order;
  while (!left.empty()) {
    auto next = std::ranges::find_if(
        left, [&](const auto& one) { return waits_for[std::get<2>(one)].empty(); });
    if (next == left.end()) next = left.begin();  // they require each other
    order.push_back(std::get<2>(*next));
    left.erase(next);
    for (std::set<std::size_t>& others : waits_for) others.erase(order.back());
  }
  return order;
}

Result<void> settle_files(std::vector<NewPackage>& entering, const std::vector<std::size_t>& order,
                          const OverwriteConsent& consent,
                          const std::vector<InstalledDistribution>& staying, const Roots& roots,
                          std::vector<OverwrittenPath>& overwritten) {
  if (!consent.is_given()) return {};
  Settlement settlement(entering, consent, overwritten);
  settlement.settle_among_new(order);
  if (consent.keeps_settled()) {
    if (auto done = settlement.settle_with_staying(staying, roots); !done) return done;
  }
  return settlement.apply();
}

void warn_of_left_files(const std::vector<InstalledDistribution>& leaving,
                        const std::vector<NewPackage>& entering,
                        const std::vector<InstalledDistribution>& staying,
                        const OverwriteConsent& consent, const Roots& roots, Report& report) {
  if (leaving.empty()) return;
  std::unordered_set<std::string_view> brought;
  PathResolver resolver(roots);
  for (const InstalledDistribution& distribution : staying) {
    const OverwrittenFiles* files = consent.overwritten_of(distribution);
    if (files == nullptr) continue;
    if (brought.empty()) {
      for (const NewPackage& package : entering)
        for (const NewFile& file : package.files) brought.insert(file.target);
    }
    std::map<std::string, std::vector<std::string>> left;  // by package
    for (const auto& [path, owner] : *files) {
      const auto target = record_target(distribution, path, resolver);
      if (!target || !*target || brought.contains(**target)) continue;
      const auto gone = std::ranges::find(leaving, owner, &InstalledDistribution::name);
      if (gone != leaving.end()) left[owner].push_back(path);
    }
    for (const auto& [owner, paths] : left) {
      report.warn(
          fmt::format("{}{} of {} {} {} still that of {}, which leaves", paths.front(),
                      paths.size() == 1 ? std::string()
                                        : fmt::format(" and {} more files", paths.size() - 1),
                      distribution.name, wheel::render_version(distribution.metadata.version),
                      paths.size() == 1 ? "is" : "are", owner),
          fmt::format("{} gives it its own", repair_command(distribution)));
    }
  }
}

Result<std::vector<NewFile>> rewrite_metadata(const InstalledDistribution& distribution,
                                              const std::vector<LostFile>& lost,
                                              const Roots& roots) {
  auto entries = read_record(distribution);
  if (!entries && entries.error().kind == ErrorKind::malformed) {
    return fail(
        ErrorKind::malformed,
        fmt::format("{} of {} cannot be overwritten, because its RECORD, which would have to "
                    "say so, is malformed: {}",
                    lost.front().path, distribution.name, entries.error().message),
        is_repairable(distribution)
            ? fmt::format("run {} to restore the RECORD first", repair_command(distribution))
            : fmt::format("reinstall or remove {} first", distribution.name));
  }
  if (!entries) return std::unexpected(entries.error());
  auto overwritten = read_overwritten(distribution.dist_info);
  if (!overwritten) return std::unexpected(overwritten.error());
  PathResolver resolver(roots);
  auto dist_info = resolver.resolve(distribution.dist_info);
  if (!dist_info) return std::unexpected(dist_info.error());
  if (!*dist_info) {
    return fail(ErrorKind::malformed,
                fmt::format("{} is outside the environment", distribution.dist_info));
  }
  const LostFiles files = by_path(lost);
  for (wheel::RecordEntry& entry : *entries) {
    const auto target = record_target(distribution, entry.path, resolver);
    if (!target) return std::unexpected(target.error());
    const auto found = *target ? files.find(**target) : files.end();
    if (found != files.end()) rewrite_entry(entry, *found->second, *overwritten);
  }
  return metadata_with(std::move(*entries), *overwritten, **dist_info);
}

}  // namespace axle::installer
