#pragma once
// What there is to choose from: the seam between the solver and wherever packages are published.
// Names are normalised. What is given out lives as long as its Candidates, and is read once.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "resolver/catalogue/direct_release.h"
#include "resolver/catalogue/release.h"
#include "resolver/catalogue/release_metadata.h"
#include "resolver/catalogue/version_filter.h"
#include "wheel/core_metadata.h"

namespace axle::resolver {

/// What a wheel says of itself, without the fields and the description, which nobody reads here.
using WheelMetadata = std::shared_ptr<const wheel::CoreMetadata>;

/// For messages.
struct KnownVersion {
  wheel::Version version;
  bool yanked = false;
};

/// Where a package was looked for: what errors about it say.
struct Whereabouts {
  std::string looked_in;  ///< "https://…, /folder"; empty: there was nowhere to look
  /// Why versions of other indexes did not count, and how to make them count; empty: none were left
  /// out.
  std::string why_alone;
  std::string withheld;  ///< files that do not count, and why; empty: none
};

class Candidates {
 public:
  virtual ~Candidates() = default;

  /// All releases that count, in the order in which they are tried; pre-releases and yanked ones
  /// among them.
  [[nodiscard]] virtual Result<std::vector<Release*>> releases(std::string_view name) = 0;
  /// Which releases a package has: those that `filter` allows, in the order in which they are
  /// tried. Pre-releases only when asked for or when there is nothing else; yanked releases only
  /// when pinned. Empty when nothing matches.
  [[nodiscard]] virtual Result<std::vector<Release*>> matching(std::string_view name,
                                                               const VersionFilter& filter) = 0;
  /// The release that the files at `urls` make up. Errors: as of direct_release.
  [[nodiscard]] virtual Result<Release*> direct(std::string_view name,
                                                const NamedPlaces& places) = 0;
  /// Every version known, newest first, each once. For messages.
  [[nodiscard]] virtual Result<std::vector<KnownVersion>> versions(std::string_view name) = 0;

  /// Which variants a release has, and what each needs of the machine. `wheels`: of `release`,
  /// those with a label whose tags fit, best first. Errors: as of read_release_metadata.
  [[nodiscard]] virtual Result<const ReleaseMetadata*> variants(
      std::string_view name, const Release& release,
      const std::vector<const CandidateWheel*>& wheels) = 0;
  /// What one wheel needs: its own core metadata. Errors: malformed (metadata of something else),
  /// not_found, io.
  [[nodiscard]] virtual Result<WheelMetadata> metadata(std::string_view name,
                                                       const Release& release,
                                                       const CandidateWheel& wheel) = 0;
  /// Hints: the search will probably ask for these, so they are sent for already. They change no
  /// answer; what goes wrong is said where it is asked for.
  virtual void expect_releases([[maybe_unused]] const std::vector<std::string>& names) {}
  /// What `releases` gives, if that needs no waiting and nothing is to be said of it; empty: that
  /// is not known yet, or there are none.
  [[nodiscard]] virtual std::vector<Release*> releases_at_hand(
      [[maybe_unused]] std::string_view name) {
    return {};
  }
  virtual void expect_variants([[maybe_unused]] std::string_view name,
                               [[maybe_unused]] const Release& release) {}
  virtual void expect_metadata([[maybe_unused]] std::string_view name,
                               [[maybe_unused]] const Release& release,
                               [[maybe_unused]] const CandidateWheel& wheel) {}
  /// What `metadata` gives, if that needs no waiting; nullptr: that is not known yet.
  [[nodiscard]] virtual WheelMetadata known_metadata([[maybe_unused]] std::string_view name,
                                                     [[maybe_unused]] const Release& release,
                                                     [[maybe_unused]] const CandidateWheel& wheel) {
    return nullptr;
  }

  /// For whoever watches: the build `label` of the release was taken, whatever builds rank after
  /// it; empty: which of its builds fit decided, each of them. Said again, both count.
  virtual void note_decision([[maybe_unused]] const Release& release,
                             [[maybe_unused]] std::string_view label) {}

  /// The sha256 of the first download of `wheel`, whose index gives no hash; nullopt: none was
  /// kept.
  [[nodiscard]] virtual std::optional<std::string> first_sha256(const CandidateWheel& wheel) = 0;

  /// The family that a project belongs to; nullptr: none, or plain wheels are wanted.
  [[nodiscard]] virtual Result<const index::Family*> family_of(std::string_view name) = 0;
  /// The one URL that the package is assigned to; empty: none.
  [[nodiscard]] virtual std::string assigned_url(std::string_view name) const = 0;
  [[nodiscard]] virtual Whereabouts whereabouts(std::string_view name) = 0;
  /// Projects that are known without asking an index: what a misspelt name may mean.
  [[nodiscard]] virtual std::set<std::string> names_at_hand() { return {}; }
};

}  // namespace axle::resolver
