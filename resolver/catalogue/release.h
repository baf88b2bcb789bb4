#pragma once
// One version of a package as it is published, with its wheels.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/family/family.h"
#include "index/pages/listed_project.h"
#include "index/pages/page.h"
#include "plan/decision.h"
#include "resolver/request/source_builder.h"
#include "wheel/tag.h"
#include "wheel/version.h"
#include "wheel/wheel_name.h"

namespace axle::resolver {

/// A wheel whose name was parsed.
struct CandidateWheel {
  const index::PublishedFile* file = nullptr;  ///< in its release
  wheel::WheelName name;
  std::string label;  ///< of its name, or that a family gives it; empty: a plain wheel
  std::size_t tag_index = wheel::SupportedTags::npos;  ///< npos: no tag fits

  [[nodiscard]] bool is_variant() const { return !label.empty(); }
};

/// One version of one package as one source publishes it: never merged across sources, but that a
/// family's index and the plain wheels of the default index count as one. Its files are read when
/// somebody looks at them.
class Release {
 public:
  wheel::Version version;   ///< without the local version where that is a family's label
  std::string_view source;  ///< index or folder, for messages
  bool direct = false;      ///< named by path or URL: yanked and pre-release rules do not apply
  /// Its labelled files are builds of this family; nullptr: the release has no labelled files.
  const index::Family* family = nullptr;
  std::vector<wheel::Version> local_versions;  ///< of the labelled files, each once

  /// Which of its wheels are among the candidates.
  enum class Parsed : std::uint8_t { none, fitting, all } parsed = Parsed::none;
  /// Filled by parse_wheels and parse_fitting_wheels; none is moved when others are added.
  std::list<CandidateWheel> candidates;
  std::vector<plan::SkippedFile> unreadable;  ///< files that are no wheels for this release
  /// What became of building its source distribution, and the wheel's place among the candidates;
  /// nullptr: nobody tried.
  std::unique_ptr<const Result<BuiltWheel>> built;

  [[nodiscard]] bool is_built(const CandidateWheel& wheel) const {
    return built != nullptr && built->has_value() && wheel.file == &(*built)->file;
  }

  Release() = default;
  /// One release of `listed`, which must outlive it.
  Release(const index::ListedProject& listed, std::size_t place);

  [[nodiscard]] const std::vector<index::PublishedFile>& wheels() const { return files().wheels; }
  [[nodiscard]] const std::vector<index::PublishedFile>& sdists() const {
    return all_but_wheels().sdists;
  }
  [[nodiscard]] const std::optional<index::PublishedFile>& variants_file() const {
    return all_but_wheels().variants_file;
  }
  /// Those whose tags may fit; nullptr: what its wheels are is only known if all are read.
  [[nodiscard]] const std::vector<index::PublishedFile>* fitting_wheels(
      const wheel::SupportedTags& tags) const;
  /// The requires-python of its wheels, or else of its sdists, in page order without repetitions in
  /// a row.
  [[nodiscard]] std::vector<std::string> pythons() const;
  /// Without reading the files.
  [[nodiscard]] index::ReleaseSummary summary() const;
  /// For whoever puts a release together: what was listed no longer counts.
  [[nodiscard]] index::ReleaseFiles& changed_files();

  /// Wheels with labels that are read together with the files: a family's, of which each release
  /// has pages of its own. `builds`: how many labels they have at most.
  void expect_more(std::function<Result<std::vector<index::PublishedFile>>()> read,
                   std::uint32_t builds);
  /// Why they could not be read; nullopt: they were, or nobody looked.
  [[nodiscard]] const std::optional<Error>& trouble() const { return opened().trouble; }
  /// It has, or may have, wheels that a family gave a label. Nothing is read for that.
  [[nodiscard]] bool may_be_labelled() const;

 private:
  /// What only a release needs that somebody looks at: a project has hundreds of others.
  struct Opened {
    std::optional<index::ReleaseFiles> files;
    std::optional<index::ReleaseFiles> fitting;  ///< without wheels whose tags do not fit
    std::vector<std::string> pythons;  ///< of the wheels, with those left out of `fitting`
    std::function<Result<std::vector<index::PublishedFile>>()> read_more;  ///< called once
    std::uint32_t more_builds = 0;
    std::optional<Error> trouble;
  };

  [[nodiscard]] Opened& opened() const;
  [[nodiscard]] index::ReleaseFiles& files() const;
  /// Of these, all; of the wheels, perhaps only some.
  [[nodiscard]] const index::ReleaseFiles& all_but_wheels() const;
  /// Without what is read later.
  [[nodiscard]] index::ReleaseFiles& own_files() const;

  const index::ListedProject* listed_ = nullptr;
  std::size_t place_ = 0;
  mutable std::unique_ptr<Opened> opened_;
};

/// Adds the wheel to the candidates, if it was built.
void note_build(Release& release, Result<BuiltWheel> built, const wheel::SupportedTags& tags);

/// Parses the names of all wheels of `release`, once: for whoever says why one was left out.
void parse_wheels(Release& release, const wheel::SupportedTags& tags);
/// Only of those whose tags may fit, where they can be told from the others without that.
void parse_fitting_wheels(Release& release, const wheel::SupportedTags& tags);

}  // namespace axle::resolver
