#pragma once
// What is written down about a wheel while it is received, so that a later command can go on: lines
// that are only appended. It is a claim, like all that lies in a folder: what is unpacked from it
// is compared with RECORD and with the hash of the whole wheel.
//
//   axle-partial-wheel 1 <sha256> <bytes of the wheel>   the first line
//   hash <bytes> <state of SHA-256 after them>           of the wheel's bytes
//   done <member>                                        checked, and its file is complete
//   place <member> <data offset> <packed bits> <bytes> <crc32>   its file is written up to there
//
// A member is a number: its place among the records in the order of the wheel. Each line ends with
// a check of its text; what follows the first line that is not whole does not count.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wheel/hash/sha256.h"
#include "wheel/zip/zip_reader.h"

namespace axle::installer {

struct PartialLog {
  std::vector<wheel::Sha256Midpoint> hashes;          ///< ascending
  std::set<std::size_t> done;                         ///< members
  std::map<std::size_t, wheel::ContentPlace> places;  ///< the last one of each member
  std::size_t length = 0;                             ///< of the lines that count, in bytes
  friend bool operator==(const PartialLog&, const PartialLog&) = default;
};

[[nodiscard]] std::string render_log_head(std::string_view sha256, std::uint64_t size);
[[nodiscard]] std::string render_log_line(const wheel::Sha256Midpoint& hash);
[[nodiscard]] std::string render_log_line(std::size_t done_member);
[[nodiscard]] std::string render_log_line(std::size_t member, const wheel::ContentPlace& place);

/// Nullopt: it is not the log of that wheel.
[[nodiscard]] std::optional<PartialLog> parse_partial_log(std::string_view text,
                                                          std::string_view sha256,
                                                          std::uint64_t size);

}  // namespace axle::installer
