#pragma once
// Files that an index lists and that do not exist for the user: uploaded too late, or open to
// everybody between the index and here.

#include <cstddef>
#include <string>
#include <string_view>

#include "index/pages/page.h"
#include "resolver/request/options.h"

namespace axle::resolver {

struct WithheldFiles {
  std::size_t newer = 0;    ///< uploaded at the time of the cutoff or later
  std::size_t undated = 0;  ///< with a cutoff, but the index does not say when they were uploaded
  std::size_t exposed = 0;  ///< PublishedFile::exposed, on a host that is not trusted
  std::string cutoff;       ///< UploadCutoff::text
  std::string host;         ///< of the first exposed link

  [[nodiscard]] bool any() const { return newer + undated + exposed > 0; }
};

/// Takes them off `page`. `dated`: files without an upload time are withheld too where a cutoff
/// holds; those of find-links places never have one (pip's and uv's rule).
WithheldFiles withhold_files(index::ProjectPage& page, std::string_view name, bool dated,
                             const Options& options);

/// "3 files were uploaded after …" and what to do, for the hint of an error about `name`; empty
/// when nothing was withheld.
[[nodiscard]] std::string explain_withheld(std::string_view name, const WithheldFiles& withheld);

}  // namespace axle::resolver
