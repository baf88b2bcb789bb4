#pragma once
// Simple-API project pages (PEP 503 HTML, PEP 691 JSON, 592 yanked, 658/714 metadata, 700 sizes).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/hash/expected_hash.h"

namespace axle::index {

struct PublishedFile {
  std::string filename;
  std::string url;  ///< absolute, fragment removed
  wheel::ExpectedHash hash;
  std::optional<std::uint64_t> size;
  std::optional<std::int64_t> uploaded;  ///< PEP 700: microseconds since 1970, UTC
  std::string requires_python;           ///< as published, may be empty or broken
  bool yanked = false;
  std::string yanked_reason;
  bool has_metadata = false;    ///< PEP 658/714: `{url}.metadata` exists
  std::string metadata_sha256;  ///< may be empty
  /// A plain http link without a hash on a page that came by https: anybody on the way could put
  /// another file in its place.
  bool exposed = false;
  std::string label;   ///< that an index family gives it (index/family/family.h); empty: none
  std::string source;  ///< where it is listed, when that is not where its release's others are
};

/// Notes one of a file's hashes by its name in hashlib. False: a sha256 that is not 64 hex digits.
[[nodiscard]] bool note_hash(wheel::ExpectedHash& hash, std::string_view algorithm,
                             std::string_view digits);
/// The hashes in a link's fragment: "sha256=…", "egg=x&sha512=…". False as above.
[[nodiscard]] bool note_fragment_hashes(wheel::ExpectedHash& hash, std::string_view fragment);

/// A longer page is refused, whatever its transfer was compressed to: the largest known ones have
/// some 10 MB.
inline constexpr std::uint64_t max_page_bytes = 64ULL << 20;

struct ProjectPage {
  std::string name;
  std::string url;                   ///< where it was read, for messages
  std::vector<PublishedFile> files;  ///< in page order
  /// The source does not know the project: another one may be asked. A page without files is an
  /// answer.
  bool absent = false;
};

/// `content_type` decides between JSON and HTML (parameters ignored); files whose entries are
/// broken are left out with a warning. Errors: malformed (not a project page), unsupported (API
/// major above 1).
[[nodiscard]] Result<ProjectPage> parse_page(std::string body, std::string_view content_type,
                                             std::string_view page_url, Report& report);
/// `body` is taken because its room is: the parser wants 64 readable bytes behind the text, and a
/// string that has them as spare capacity is not copied for it.
[[nodiscard]] Result<ProjectPage> parse_json_page(std::string body, std::string_view page_url,
                                                  Report& report);
[[nodiscard]] Result<ProjectPage> parse_html_page(std::string_view body, std::string_view page_url,
                                                  Report& report);

}  // namespace axle::index
