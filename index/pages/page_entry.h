#pragma once
// Shared by the two page formats: validates an entry, makes its link absolute, and skips an invalid
// one with a warning.

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
  /// href>). `page_bytes`: the length of the page, which limits the memory for its entries.
  PageBuilder(std::string_view page_url, std::string base_url, std::size_t page_bytes,
              Report& report);

  void set_name(std::string_view name) { page_.name = name; }

  /// An empty entry at the end of the page, to be filled and then either kept or dropped.
  [[nodiscard]] PublishedFile& begin();
  /// Keeps the entry if its name and link are valid, with `url` set from `link` and `provenance`
  /// made absolute; otherwise drops it.
  void keep(std::string_view link);
  /// Drops the entry and reports why.
  void leave_out(std::string_view why);

  /// Whether the files so far use no more memory than allowed for a page of this length.
  [[nodiscard]] bool has_room() const { return bytes_ <= most_bytes_; }
  /// The error if they do.
  [[nodiscard]] Error too_large() const;

  /// Summarises suppressed messages.
  [[nodiscard]] ProjectPage finish();

 private:
  [[nodiscard]] bool link_allowed(std::string_view url) const;
  void resolve_provenance(PublishedFile& file);

  ProjectPage page_;
  UrlResolver resolver_;
  bool page_is_local_;
  bool page_is_https_;
  Report& report_;
  std::size_t bytes_ = 0;  ///< used by the files
  std::size_t most_bytes_;
  std::size_t skipped_ = 0;
  std::size_t borrowed_hashes_ = 0;  ///< files with the hash of their metadata for their own
  std::string first_borrower_;
  std::size_t lost_provenances_ = 0;  ///< files whose link to it is not allowed
  std::string first_lost_;
};

/// "1.1" -> ok; a major version above 1 is unsupported (PEP 691), text that is not a valid version
/// malformed.
[[nodiscard]] Result<void> check_api_version(std::string_view version, std::string_view page_url);

/// 64 hex digits in either case, returned in lower case; empty if it is something else.
[[nodiscard]] std::string sha256_digits(std::string_view text);

/// A name that can be created in a folder: one component, no control characters.
[[nodiscard]] bool is_sound_file_name(std::string_view name);

/// Has the ending of a file that a simple index publishes: wheel, source archive, variants file.
[[nodiscard]] bool is_distribution_name(std::string_view name);

/// The HTML reader, without the error for pages without links: find-links pages need not be project
/// pages.
[[nodiscard]] Result<ProjectPage> parse_link_page(std::string_view body, std::string_view page_url,
                                                  Report& report);

}  // namespace axle::index
