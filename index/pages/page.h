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
  std::string requires_python;           ///< as published, may be empty or invalid
  bool yanked = false;
  std::string yanked_reason;
  bool has_metadata = false;    ///< PEP 658/714: `{url}.metadata` exists
  std::string metadata_sha256;  ///< may be empty
  std::string provenance;       ///< PEP 740: where its attestations are, absolute; empty: nowhere
  /// A plain http link without a hash on a page served by https: an attacker on the network could
  /// replace the file.
  bool exposed = false;
  std::string label;   ///< set by an index family (index/family/family.h); empty: none
  std::string source;  ///< where it is listed, if that differs from the other files of its release

  friend bool operator==(const PublishedFile&, const PublishedFile&) = default;
};

/// Stores one of a file's hashes by its name in hashlib. False: a sha256 that is not 64 hex digits.
[[nodiscard]] bool note_hash(wheel::ExpectedHash& hash, std::string_view algorithm,
                             std::string_view digits);
/// The hashes in a link's fragment: "sha256=…", "egg=x&sha512=…". False as above.
[[nodiscard]] bool note_fragment_hashes(wheel::ExpectedHash& hash, std::string_view fragment);

/// A longer page is rejected, however it was compressed: the largest known ones have about 10 MB.
inline constexpr std::uint64_t max_page_bytes = 64ULL << 20;

struct ProjectPage {
  std::string name;
  std::string url;                   ///< where it was read, for messages
  std::vector<PublishedFile> files;  ///< in page order
  /// The source does not have the project: another one may be queried. A page without files is an
  /// answer.
  bool absent = false;
};

/// `content_type` decides between JSON and HTML (parameters ignored); files with invalid entries
/// are skipped with a warning. Errors: malformed (not a project page), unsupported (API major
/// version above 1).
[[nodiscard]] Result<ProjectPage> parse_page(std::string body, std::string_view content_type,
                                             std::string_view page_url, Report& report);
/// `body` is consumed for its capacity: the parser needs 64 readable bytes after the text, and a
/// string with that spare capacity is not copied.
[[nodiscard]] Result<ProjectPage> parse_json_page(std::string body, std::string_view page_url,
                                                  Report& report);
[[nodiscard]] Result<ProjectPage> parse_html_page(std::string_view body, std::string_view page_url,
                                                  Report& report);

}  // namespace axle::index
