#include "session/downloads/brought_files.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/parallel.h"
#include "index/http/url.h"
#include "index/storage/storage_address.h"
#include "installer/transaction/joint_report.h"
#include "resolver/solver/solver.h"
#include "session/storage/storage_access.h"

namespace axle::session {

namespace {

/// So many use a network well.
constexpr unsigned most_at_once = 8;

std::vector<std::size_t> largest_first(const std::vector<WantedFile>& wanted) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const std::uint64_t sizes[] = {wanted[a].file.size.value_or(0),
                                   wanted[b].file.size.value_or(0)};
    return sizes[0] != sizes[1] ? sizes[0] > sizes[1] : a < b;
  });
  return order;
}

std::set<std::string_view> names_of(const plan::Resolution& resolution) {
  std::set<std::string_view> names;
  for (const plan::ResolvedPackage& package : resolution.packages) names.insert(package.filename);
  return names;
}

}  // namespace

Outcome<OpenedIndex> open_saved_index(const SavePlace& place, const Workspace& workspace) {
  OpenedIndex opened;
  opened.transport = workspace.sources.transport;
  if (!place.has_index()) return opened;
  if (!index::is_stored_elsewhere(place.index)) {
    opened.place = index::make_folder_place(place.index);
    opened.url = index::file_url(place.index + "/simple");
    return opened;
  }
  auto storage = open_storage(place.index, workspace.settings, true);
  if (!storage) return std::unexpected(std::move(storage.error()));
  opened.url = (*storage)->simple_url();
  opened.transport = &(*storage)->reader();
  opened.place = std::move(*storage);
  return opened;
}

Result<std::vector<installer::SavedFile>> bring_files(installer::FileFolder& folder,
                                                      index::IndexPlace* published,
                                                      const std::vector<WantedFile>& wanted,
                                                      index::Transport& transport, Report& report) {
  std::vector<installer::SavedFile> saved(wanted.size());
  installer::JointReport reports(report, wanted.size());
  const std::vector<std::size_t> order = largest_first(wanted);
  std::stop_source stop;
  std::mutex mutex;  // protects the error
  std::optional<Error> error;
  system::for_each_at_once(order.size(), most_at_once, [&](std::size_t turn) {
    if (stop.stop_requested()) return;
    const std::size_t i = order[turn];
    auto brought =
        folder.bring(wanted[i].file, published, transport, reports.of(i), stop.get_token());
    reports.count_done();
    // What an index published does not change, neither what is beside it.
    const bool is_new =
        brought && !wanted[i].is_variants_file && (!brought->was_there || published == nullptr);
    if (is_new) {
      if (auto attested = folder.bring_provenance(wanted[i].file, transport, reports.of(i));
          !attested)
        brought = std::unexpected(attested.error());
    }
    if (brought) {
      saved[i] = *std::move(brought);
      return;
    }
    const std::lock_guard lock(mutex);
    if (!error) error = std::move(brought.error());
    stop.request_stop();
  });
  reports.pass_on_remarks();
  if (error) return std::unexpected(std::move(*error));
  return saved;
}

std::optional<std::string> differs_from_saved(const Workspace& workspace,
                                              const resolver::Target& target,
                                              const plan::Resolution& resolution,
                                              const SavePlace& place, const std::string& url,
                                              index::Transport& transport) {
  CollectedReport said_before;
  const auto source = place.has_index()
                          ? index::make_simple_source(url, transport, said_before)
                          : index::make_find_links_source(place.folder, transport, said_before);
  resolver::Sources alone;
  (place.has_index() ? alone.indexes : alone.find_links) = {source.get()};
  alone.transport = &transport;
  alone.offline = workspace.sources.offline;
  resolver::Options options = workspace.options;  // what is saved may be used
  options.wheel_use = {};
  options.cutoffs = {};
  const auto found = resolver::resolve(workspace.requests, target, {}, alone, options, said_before);
  if (!found) return "cannot be installed: " + found.error().message;
  const std::set<std::string_view> wanted = names_of(resolution);
  for (const plan::ResolvedPackage& package : found->packages) {
    if (wanted.contains(package.filename)) continue;
    const auto own =
        std::ranges::find(resolution.packages, package.name, &plan::ResolvedPackage::name);
    return own == resolution.packages.end()
               ? fmt::format("gets {} as well", package.filename)
               : fmt::format("gets {} instead of {}", package.filename, own->filename);
  }
  if (found->packages.size() < wanted.size()) return "gets fewer packages";
  return std::nullopt;
}

}  // namespace axle::session
