#pragma once
// Writes wheels, reproducibly: the same members give the same bytes on every machine.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::wheel {

struct WheelMember {
  std::string path;  ///< inside the archive
  std::string content;
  bool executable = false;
};

/// A member as it lies in an archive.
struct PackedMember {
  std::string path;
  std::string packed;        ///< deflated or stored
  std::uint16_t method = 0;  ///< as ZipEntry::method
  std::uint32_t crc32 = 0;   ///< of the content
  std::uint64_t size = 0;    ///< of the content
  bool executable = false;
};

/// Deflated where that is shorter, else stored. The same content gives the same bytes.
[[nodiscard]] PackedMember pack_member(const WheelMember& member);

/// As write_zip, of members that are packed already; none is unpacked.
[[nodiscard]] Result<std::string> write_packed_zip(const std::vector<const PackedMember*>& members,
                                                   std::uint64_t unix_time);

/// The bytes of a zip archive: members in the given order, time stamp `unix_time` (clamped to 1980,
/// SOURCE_DATE_EPOCH is the caller's), deflated by libdeflate at one fixed level, no data
/// descriptors, no extra fields. Error: malformed for a duplicate or unsafe path.
[[nodiscard]] Result<std::string> write_zip(const std::vector<WheelMember>& members,
                                            std::uint64_t unix_time);

/// A wheel: `members` sorted with dist-info last, RECORD computed and appended.
/// `dist_info` is "name-1.0.dist-info".
[[nodiscard]] Result<std::string> write_wheel(std::vector<WheelMember> members,
                                              std::string_view dist_info, std::uint64_t unix_time);

}  // namespace axle::wheel
