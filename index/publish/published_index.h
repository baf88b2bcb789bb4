#pragma once
// What `variant index build` has written into a folder before: read back strictly, so that what is
// added to it keeps everything, and nothing of anybody else is touched.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "foundation/report/error.h"

namespace axle::index {

struct PublishedWheel {
  std::string filename;
  std::string sha256;  ///< as its page lists it, like the size
  std::uint64_t size = 0;
};

struct PublishedProject {
  std::string folder;                  ///< absolute
  std::vector<PublishedWheel> wheels;  ///< in page order
  std::vector<std::string> listed;     ///< file names on the page, wheels and variants files
  std::vector<std::string> files;      ///< everything in the folder, pages included, sorted
};

/// By normalised name.
using PublishedIndex = std::map<std::string, PublishedProject>;

/// `folder` is absolute; one that does not exist or is empty holds no project. Errors: io when
/// something lies there that an index build did not write (named: a file, link or folder that no
/// page lists, an entry of a page that it would not write). The wheels are not opened.
[[nodiscard]] Result<PublishedIndex> read_published_index(const std::string& folder);

}  // namespace axle::index
