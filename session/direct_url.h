#pragma once
// direct_url.json of an installed package (PEP 610): the place that it was installed from, if that
// was no index. Any program may have written it, so a part of another shape counts as absent.

#include <map>
#include <string>
#include <string_view>

namespace axle::session {

struct DirectUrl {
  std::string url;                            ///< empty: the package is from an index
  std::map<std::string, std::string> hashes;  ///< of an archive: algorithm to hexadecimal digits
  bool folder = false;                        ///< built from a folder of sources
  bool editable = false;                      ///< which is used where it is
  bool repository = false;
  std::string vcs;  ///< "git"
  std::string commit;
  std::string subdirectory;  ///< of the project in the sources
};

/// Everything is absent in a text that is not JSON, and if the URL is not a single line.
[[nodiscard]] DirectUrl read_direct_url(std::string_view text);

}  // namespace axle::session
