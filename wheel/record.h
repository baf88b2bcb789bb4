#pragma once
// RECORD files ("Recording installed projects"): path, hash, size of every file of a wheel.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::wheel {

struct RecordEntry {
  std::string path;    ///< "/"-separated, relative to site-packages
  std::string sha256;  ///< urlsafe base64 without padding, as RECORD spells it; empty when none
  std::optional<std::uint64_t> size;
  /// "sha512=…" or "sha384=…", which is left unread; empty: the line has none.
  std::string stronger_hash = {};
  friend bool operator==(const RecordEntry&, const RecordEntry&) = default;
};

/// The same, as it stands in a text: valid until the next row is read.
struct RecordRow {
  std::string_view path;
  std::string_view sha256;
  std::optional<std::uint64_t> size;
  std::string_view stronger_hash;
};

/// A copy that lasts.
[[nodiscard]] RecordEntry entry_of(const RecordRow& row);

/// CSV as Python's csv module reads it (quotes doubled, CRLF or LF). Hash algorithms other than
/// sha256 (and stronger sha384/sha512, which are left unread) are malformed. Error names `where`
/// and the line.
[[nodiscard]] Result<std::vector<RecordEntry>> parse_record(std::string_view text,
                                                            std::string_view where);
/// Calls `take` for each row, in order, until one is malformed. Errors: those of parse_record.
[[nodiscard]] Result<void> for_each_record_row(std::string_view text, std::string_view where,
                                               const std::function<void(const RecordRow&)>& take);
/// What can be read of a RECORD that may be malformed: each row whose path can be, also where there
/// is something wrong with the rest of it. A row that is not CSV ends with its line. Of a RECORD
/// that parse_record accepts, the same.
[[nodiscard]] std::vector<RecordEntry> salvage_record(std::string_view text);
/// Appends a line, with LF and fields quoted only where needed.
void append_record_line(std::string& text, std::string_view path, std::string_view sha256,
                        std::optional<std::uint64_t> size);
/// Such lines.
[[nodiscard]] std::string render_record(const std::vector<RecordEntry>& entries);

}  // namespace axle::wheel
