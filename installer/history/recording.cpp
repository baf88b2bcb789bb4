#include "installer/history/recording.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "index/http/redaction.h"
#include "installer/file_hash.h"

namespace axle::installer {
namespace {

/// The RECORD of an installed package, as history tells installations apart; empty: it has none.
std::string record_of(const InstalledDistribution& distribution) {
  return hash_file(AT_FDCWD, distribution.dist_info + "/RECORD").value_or(std::string());
}

RecordedPackage recorded(const History& history, const InstalledDistribution& distribution) {
  return recorded_package(history, distribution.name,
                          wheel::render_version(distribution.metadata.version),
                          record_of(distribution));
}

/// What a list among `files` says; empty: there is none.
template <class Files>
OverwrittenFiles overwritten_in(const Files& files, std::string_view dist_info) {
  const std::string path = fmt::format("{}/{}", dist_info, overwritten_file);
  for (const NewFile& file : files) {
    if (file.target == path)
      return parse_overwritten(file.content, path).value_or(OverwrittenFiles());
  }
  return {};
}

RecordedPackage recorded(const plan::ResolvedPackage& package, const NewPackage& entering) {
  const auto record =
      std::ranges::find(entering.files, entering.dist_info + "/RECORD", &NewFile::target);
  const bool requested = std::ranges::find(entering.files, entering.dist_info + "/REQUESTED",
                                           &NewFile::target) != entering.files.end();
  return {entering.origin,
          record == entering.files.end() ? std::string() : record->sha256,
          package.variant,
          package.family,
          package.variant_properties,
          package.supported_properties,
          requested,
          package.direct,
          index::redact_url(package.provenance),
          package.built_from,
          overwritten_in(entering.files, entering.dist_info)};
}

/// Whether `change` is what the next undo or redo is of.
bool is_next(const History& history, HistoryStep step, const RecordedChange& change) {
  const auto& changes = step == HistoryStep::undo ? history.done : history.undone;
  return !changes.empty() && changes.back() == change;
}

}  // namespace

Result<std::optional<History>> read_history_to_extend(const std::string& base, HistoryStep step,
                                                      const std::optional<RecordedChange>& expected,
                                                      Report& report) {
  auto history = read_history(base);
  if (expected && !(history && is_next(*history, step, *expected))) {
    return fail(ErrorKind::conflict,
                "the environment was changed by another command in the meantime",
                "run the same command again; nothing was changed");
  }
  if (history) return std::move(*history);
  if (history.error().kind == ErrorKind::io) return std::unexpected(history.error());
  if (history.error().kind == ErrorKind::unsupported) {
    report.note(
        fmt::format("this change is not recorded for `variant undo`: {}", history.error().message));
    return std::nullopt;
  }
  report.warn(fmt::format("`variant undo` begins anew: {}", history.error().message));
  return History{};
}

RecordedChange record_change(const History& history,
                             const std::vector<InstalledDistribution>& leaving,
                             const std::vector<InstalledDistribution>& staying,
                             const std::vector<const plan::ResolvedPackage*>& packages,
                             const std::vector<NewPackage>& entering,
                             const std::list<Staging::RewrittenMetadata>& rewritten) {
  RecordedChange change;
  for (const InstalledDistribution& distribution : leaving) {
    if (change.before.empty() || change.before.back().wheel.name != distribution.name)
      change.before.push_back(recorded(history, distribution));
  }
  for (std::size_t i = 0; i < packages.size(); ++i)
    change.after.push_back(recorded(*packages[i], entering[i]));
  for (const Staging::RewrittenMetadata& metadata : rewritten) {
    if (!metadata.file.target.ends_with("/RECORD")) continue;
    const std::string_view folder =
        std::string_view(metadata.file.target).substr(0, metadata.file.target.rfind('/'));
    const auto owner = std::ranges::find_if(staying, [&](const InstalledDistribution& one) {
      return one.dist_info.substr(one.dist_info.rfind('/')) == folder.substr(folder.rfind('/'));
    });
    if (owner == staying.end()) continue;
    RecordedPackage package = recorded(history, *owner);
    change.before.push_back(package);
    package.record = metadata.file.sha256;
    package.overwritten = overwritten_in(
        rewritten | std::views::transform(&Staging::RewrittenMetadata::file), folder);
    change.after.push_back(std::move(package));
  }
  return change;
}

}  // namespace axle::installer
