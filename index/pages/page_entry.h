#pragma once
// What the two page formats share: an entry is checked, its link made absolute, and a broken one
// left out with a warning.

#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/url.h"
#include "index/pages/page.h"

namespace axle::index {

class PageBuilder {
 public:
  /// Links are resolved against `base_url`, which for HTML may differ from `page_url` (<base
  /// href>). `page_bytes`: the length of the page, which bounds what may be made of it.
  PageBuilder(std::string_view page_url, std::string base_url, std::size_t page_bytes,
              Report& report);

  void set_name(std::string_view name) { page_.name = name; }

  /// An empty entry at the end of the page, to be filled and then either kept or left out.
  [[nodiscard]] PublishedFile& begin();
  /// Keeps the entry if its name and link are sound, its `url` set from `link`; else leaves it out.
  void keep(std::string_view link);
  /// Takes the entry away again and says why.
  void leave_out(std::string_view why);

  /// Whether the files so far take no more memory than a page of this length may lead to.
  [[nodiscard]] bool has_room() const { return bytes_ <= most_bytes_; }
  /// The error when they do.
  [[nodiscard]] Error too_large() const;

  /// Remarks that were held back are summed up here.
  [[nodiscard]] ProjectPage finish();

 private:
  [[nodiscard]] bool link_allowed(std::string_view url) const;

  ProjectPage page_;
  UrlResolver resolver_;
  bool page_is_local_;
  bool page_is_https_;
  Report& report_;
  std::size_t bytes_ = 0;  ///< that the files take
  std::size_t most_bytes_;
  std::size_t skipped_ = 0;
  std::size_t borrowed_hashes_ = 0;  ///< files with the hash of their metadata for their own
  std::string first_borrower_;
};

/// "1.1" -> ok; a major above 1 is unsupported (PEP 691), text that is not a valid version
/// malformed.
[[nodiscard]] Result<void> check_api_version(std::string_view version, std::string_view page_url);

/// 64 hex digits in either case, given back in lower case; empty when it is not that.
[[nodiscard]] std::string sha256_digits(std::string_view text);

/// A name that can be written into a folder: one component, no control characters.
[[nodiscard]] bool is_sound_file_name(std::string_view name);

/// Ends like a file that a simple index publishes: wheel, source archive, variants file.
[[nodiscard]] bool is_distribution_name(std::string_view name);

/// The HTML reader with leave to find nothing: find-links pages need not be project pages.
[[nodiscard]] Result<ProjectPage> parse_link_page(std::string_view body, std::string_view page_url,
                                                  Report& report);

}  // namespace axle::index
