#pragma once
// One version of a package as it is published, with its wheels.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "index/family/family.h"
#include "index/pages/page.h"
#include "plan/decision.h"
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
/// family's index and the plain wheels of the default index count as one.
struct Release {
  wheel::Version version;  ///< without the local version where that is a family's label
  std::string source;      ///< index or folder, for messages
  std::vector<index::PublishedFile> wheels;
  std::vector<index::PublishedFile> sdists;
  std::optional<index::PublishedFile> variants_file;
  bool direct = false;  ///< named by path or URL: yanked and pre-release rules do not apply
  /// Its labelled files are builds of this family; nullptr: the release has no labelled files.
  const index::Family* family = nullptr;
  std::vector<wheel::Version> local_versions;  ///< of the labelled files, each once

  /// Filled by parse_wheels; `unreadable` names the files that are no wheels for this release.
  bool parsed = false;
  std::vector<CandidateWheel> candidates;
  std::vector<plan::SkippedFile> unreadable;
};

/// Parses the wheel names of `release`, once.
void parse_wheels(Release& release, const wheel::SupportedTags& tags);

}  // namespace axle::resolver
