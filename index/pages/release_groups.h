#pragma once
// The files of a page by release. File names are only split here: a page lists thousands, and few
// are looked at.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/pages/page.h"
#include "wheel/version.h"

namespace axle::index {

enum class FileKind : std::uint8_t { wheel, sdist, variants, other };

struct ReleaseFiles {
  std::vector<PublishedFile> wheels;  ///< in page order, as are the sdists
  std::vector<PublishedFile> sdists;
  std::optional<PublishedFile> variants_file;  ///< the last one, if there are several

  void add(FileKind kind, PublishedFile file);
};

struct GroupedFile {
  std::size_t place = 0;  ///< on the page
  FileKind kind = FileKind::other;
};

struct ReleaseGroup {
  wheel::Version version;
  std::string text;                ///< the version as the first file has it
  std::vector<GroupedFile> files;  ///< in page order
  bool labelled = false;
  std::vector<wheel::Version> local_versions;  ///< of the labelled files, each once
};

struct ReleaseGroups {
  std::vector<ReleaseGroup> releases;  ///< newest first, each with a wheel or an sdist
  std::vector<std::size_t> others;     ///< places of files that belong to none of them
};

/// `name` is normalised. Files with a label (PublishedFile::label) belong to the release of their
/// version without its local part.
[[nodiscard]] ReleaseGroups group_by_release(const std::vector<PublishedFile>& files,
                                             std::string_view name);

}  // namespace axle::index
