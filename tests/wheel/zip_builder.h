#pragma once
// Builds zip archives byte by byte, honest ones and lying ones: the tests' own hand, independent of
// the writer.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace axle::wheel::testing {

enum class Descriptor { none, plain, with_signature, plain_wide, with_signature_wide };

/// Every optional field is a lie or a liberty: what stands there in place of the truth.
struct Member {
  std::string name = {};
  std::string content = {};
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::uint32_t attributes = 0100644U << 16;
  std::uint16_t version_needed = 20;
  Descriptor descriptor = Descriptor::none;  // sets flag 3 and zeroes the local sizes
  std::string local_extra = {};
  std::string central_extra = {};
  std::string comment = {};
  std::string gap = {};                    // before the local header
  std::optional<std::string> packed = {};  // in place of the packed content
  // in both headers
  std::optional<std::uint32_t> crc = {};
  std::optional<std::uint32_t> packed_size = {};
  std::optional<std::uint32_t> size = {};
  // in one of them
  std::optional<std::string> local_name = {};
  std::optional<std::uint16_t> local_method = {};
  std::optional<std::uint16_t> local_flags = {};
  std::optional<std::uint32_t> local_crc = {};
  std::optional<std::uint32_t> local_packed_size = {};
  std::optional<std::uint32_t> local_size = {};
  std::optional<std::uint32_t> central_packed_size = {};
  std::optional<std::uint32_t> central_size = {};
  std::optional<std::uint32_t> offset = {};
  std::optional<std::uint32_t> descriptor_size = {};
  bool in_directory = true;
};

struct Frame {
  std::string before = {};  // before the first entry; the offsets count from the start of the file
  std::string before_directory = {};
  std::string after_directory = {};
  std::string after_end = {};
  std::string comment = {};
  bool zip64_end = false;    // a Zip64 end record, with the small one deferring to it
  bool zip64_exact = false;  // the small end record keeps its values all the same
  std::uint64_t zip64_entries_lie = 0;
  std::optional<std::uint16_t> entries = {};
  std::optional<std::uint16_t> disk = {};
  std::optional<std::uint32_t> directory_size = {};
  std::optional<std::uint32_t> directory_offset = {};
};

[[nodiscard]] std::string build_zip(const std::vector<Member>& members, const Frame& frame = {});

/// Raw deflate at a middling level.
[[nodiscard]] std::string deflate(std::string_view content);
/// A block of an extra field.
[[nodiscard]] std::string extra_block(std::uint16_t id, std::string_view content);
[[nodiscard]] std::string little_endian(std::uint64_t value, std::size_t width);

}  // namespace axle::wheel::testing
