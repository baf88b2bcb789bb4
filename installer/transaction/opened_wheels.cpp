#include "installer/transaction/opened_wheels.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/parallel.h"
#include "installer/store/metadata_check.h"
#include "installer/transaction/joint_report.h"

namespace axle::installer {
namespace {

using plan::ResolvedPackage;

/// Listing a wheel takes about as long as downloading some megabytes.
constexpr std::uint64_t large = 16U << 20;

/// Without a size in the index, builds of families are taken for large ones.
bool is_large_download(const ResolvedPackage& package, const InstallOptions& options) {
  if (package.already_installed || package.url.starts_with("file:")) return false;
  const bool is_large = package.size ? *package.size >= large : !package.family.empty();
  return is_large && !may_be_stored(options.store_folder, package) &&
         !may_be_stored(options.read_only_store, package);
}

/// Whether `package` is what it was chosen as, and where its files go.
Result<void> check_wheel(const ResolvedPackage& package, const Manifest& manifest,
                         std::string_view metadata, const Roots& roots,
                         std::optional<std::string>& other_metadata, Layout& layout) {
  if (auto same = check_metadata(package, metadata); !same) {
    other_metadata = metadata;
    return same;
  }
  auto laid_out = lay_out(manifest, roots);
  if (!laid_out) return std::unexpected(laid_out.error());
  layout = std::move(*laid_out);
  return {};
}

/// So many at once use the network well, and no more memory than is worth it.
constexpr unsigned most_at_once = 8;

/// What became of one package.
struct Outcome {
  std::optional<OpenedWheel> wheel;
  std::optional<UnlistedWheel> unlisted;
  std::optional<std::string> other_metadata;
};

/// Opens wheels, several at once.
class Opening {
 public:
  Opening(const Roots& roots, const InstallOptions& options, WheelAccess access,
          index::Transport* transport, ListedWheels& listed)
      : roots_(roots), options_(options), access_(access), transport_(transport), listed_(listed) {}

  /// The first error ends the others.
  Result<std::vector<Outcome>> open(const std::vector<const ResolvedPackage*>& packages,
                                    Report& report) {
    std::vector<Outcome> outcomes(packages.size());
    JointReport reports(report, packages.size());
    // What takes longest begins first.
    std::vector<std::size_t> order(packages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const std::uint64_t sizes[] = {packages[a]->size.value_or(0), packages[b]->size.value_or(0)};
      return sizes[0] != sizes[1] ? sizes[0] > sizes[1] : a < b;
    });
    const bool all_stored = std::ranges::all_of(packages, [&](const ResolvedPackage* package) {
      return may_be_stored(options_.store_folder, *package) ||
             may_be_stored(options_.read_only_store, *package);
    });
    // Nothing waits for a network then: more threads than processors would only wait for each
    // other.
    const unsigned processors = system::usable_processors();
    const unsigned at_once = all_stored ? processors : std::max(most_at_once, processors);
    system::for_each_at_once(order.size(), at_once, [&](std::size_t turn) {
      if (stop_.stop_requested()) return;
      const std::size_t i = order[turn];
      if (auto opened = open_one(*packages[i], outcomes[i], reports.of(i)); !opened)
        end_with(std::move(opened.error()));
      reports.count_done();
    });
    reports.pass_on_remarks();
    if (options_.other_metadata != nullptr) {
      for (std::size_t i = 0; i < packages.size(); ++i) {
        if (outcomes[i].other_metadata) {
          options_.other_metadata->insert_or_assign(packages[i]->url,
                                                    std::move(*outcomes[i].other_metadata));
        }
      }
    }
    if (error_) return std::unexpected(std::move(*error_));
    return outcomes;
  }

 private:
  void end_with(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    stop_.request_stop();
  }

  Result<WheelContents> open(const ResolvedPackage& package, const WheelCheck& check, bool lists,
                             ListedWheel* listed, Report& report) {
    const std::string& store = options_.store_folder;
    const EntryCheck entry_check =
        options_.verify_store ? EntryCheck::content : EntryCheck::size_and_time;
    auto kept =
        find_stored(options_.read_only_store, package, *transport_, check, entry_check, report);
    if (!kept) return std::unexpected(kept.error());
    if (*kept) return std::move(**kept);
    if (lists) return list_wheel(store, package, *transport_, check, report);
    return acquire_wheel(store, package, *transport_, check, entry_check, report, stop_.get_token(),
                         listed);
  }

  Result<void> open_one(const ResolvedPackage& package, Outcome& outcome, Report& report) {
    Layout layout;
    bool refused = false;
    const auto check = [&](const Manifest& manifest, std::string_view metadata) {
      auto good = check_wheel(package, manifest, metadata, roots_, outcome.other_metadata, layout);
      refused = !good;
      return good;
    };
    const bool listed = access_ == WheelAccess::listed || (access_ == WheelAccess::large_listed &&
                                                           is_large_download(package, options_));
    CollectedReport unread;  // the download reports it then
    const auto known = listed_.find(package.url);
    auto wheel = open(package, check, listed, known == listed_.end() ? nullptr : &known->second,
                      listed ? unread : report);
    if (wheel) {
      outcome.wheel = {
          &package, std::move(*wheel), std::move(layout), {}, std::move(unread.remarks)};
      return {};
    }
    const ErrorKind why = wheel.error().kind;
    // What is wrong with the ranges of a server alone does not prevent a download.
    const bool bad = why == ErrorKind::malformed || why == ErrorKind::mismatch;
    refused = refused || (bad && access_ == WheelAccess::listed);
    if (!listed || refused) return std::unexpected(std::move(wheel.error()));
    outcome.unlisted = {fmt::format("{} {}", package.name, wheel::render_version(package.version)),
                        std::move(wheel.error().message)};
    return {};
  }

  const Roots& roots_;
  const InstallOptions& options_;
  WheelAccess access_;
  index::Transport* transport_;
  ListedWheels& listed_;  ///< each by the thread that opens it
  std::stop_source stop_;
  std::mutex mutex_;  ///< protects the error
  std::optional<Error> error_;
};

}  // namespace

bool has_large_download(const plan::Resolution& resolution, const InstallOptions& options) {
  return std::ranges::any_of(resolution.packages, [&](const ResolvedPackage& package) {
    return is_large_download(package, options);
  });
}

Result<std::vector<OpenedWheel>> open_wheels(const plan::Resolution& resolution, const Roots& roots,
                                             const InstallOptions& options, WheelAccess access,
                                             index::Transport* transport, ListedWheels& listed,
                                             std::vector<UnlistedWheel>& unlisted, Report& report) {
  std::vector<const ResolvedPackage*> packages;
  for (const ResolvedPackage& package : resolution.packages)
    if (!package.already_installed) packages.push_back(&package);
  auto outcomes = Opening(roots, options, access, transport, listed).open(packages, report);
  if (!outcomes) return std::unexpected(std::move(outcomes.error()));
  std::vector<OpenedWheel> opened;
  for (Outcome& outcome : *outcomes) {
    if (outcome.wheel) opened.push_back(std::move(*outcome.wheel));
    if (outcome.unlisted) unlisted.push_back(std::move(*outcome.unlisted));
  }
  return opened;
}

}  // namespace axle::installer
