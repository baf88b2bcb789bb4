#pragma once
// Published files as bytes: how a page is kept in memory, and beside its cached copy on the disk.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/pages/page.h"
#include "index/pages/release_groups.h"

namespace axle::index {

struct KeptFile {
  std::size_t place = 0;  ///< on the page
  FileKind kind = FileKind::other;
  PublishedFile file;
};

/// Files one after the other: neighbours share the beginnings of their links.
class FileWriter {
 public:
  explicit FileWriter(std::string& out) : out_(out) {}
  void add(std::size_t place, FileKind kind, const PublishedFile& file);

 private:
  void put_provenance(const PublishedFile& file);

  std::string& out_;
  std::string_view url_;  ///< of the file before, without its name
  std::string_view requires_python_;
  std::string_view provenance_;  ///< up to the file's name in it
};

using WantedWheels =
    std::function<bool(std::string_view filename, std::string_view requires_python)>;

/// Where the bytes have been since they were written.
enum class KeptIn : std::uint8_t { memory, disk };

/// What FileWriter wrote; nullopt for anything else. From a disk also for what no page of a server
/// may list: a name with a slash, a link that is not http or https.
/// `wanted`: which wheels, by what their entries say; the others are left out. Empty: all.
[[nodiscard]] std::optional<std::vector<KeptFile>> read_kept_files(std::string_view bytes,
                                                                   KeptIn where,
                                                                   const WantedWheels& wanted = {});

}  // namespace axle::index
