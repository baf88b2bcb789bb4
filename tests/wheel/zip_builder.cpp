#include "tests/wheel/zip_builder.h"

#include <stdexcept>

#include <libdeflate.h>

namespace axle::wheel::testing {
namespace {

struct Truth {
  std::string packed;
  std::uint32_t crc = 0;
  std::uint32_t size = 0;
  std::uint32_t packed_size = 0;
  std::uint16_t flags = 0;
  std::uint32_t offset = 0;
};

std::string u16(std::uint64_t value) { return little_endian(value, 2); }
std::string u32(std::uint64_t value) { return little_endian(value, 4); }
std::string u64(std::uint64_t value) { return little_endian(value, 8); }

Truth pack(const Member& member) {
  Truth truth;
  truth.packed = member.packed        ? *member.packed
                 : member.method == 8 ? deflate(member.content)
                                      : member.content;
  truth.crc =
      member.crc.value_or(libdeflate_crc32(0, member.content.data(), member.content.size()));
  truth.size = member.size.value_or(static_cast<std::uint32_t>(member.content.size()));
  truth.packed_size = member.packed_size.value_or(static_cast<std::uint32_t>(truth.packed.size()));
  truth.flags = member.flags;
  if (member.descriptor != Descriptor::none) truth.flags |= 8;
  return truth;
}

std::string local_header(const Member& member, const Truth& truth) {
  const bool described = member.descriptor != Descriptor::none;
  const std::string name = member.local_name.value_or(member.name);
  return "PK\x03\x04" + u16(member.version_needed) + u16(member.local_flags.value_or(truth.flags)) +
         u16(member.local_method.value_or(member.method)) + u32(0x00210000) +
         u32(member.local_crc.value_or(described ? 0 : truth.crc)) +
         u32(member.local_packed_size.value_or(described ? 0 : truth.packed_size)) +
         u32(member.local_size.value_or(described ? 0 : truth.size)) + u16(name.size()) +
         u16(member.local_extra.size()) + name + member.local_extra;
}

std::string descriptor(const Member& member, const Truth& truth) {
  const std::uint32_t size = member.descriptor_size.value_or(truth.size);
  const std::string crc = u32(truth.crc);
  switch (member.descriptor) {
    case Descriptor::none:
      return "";
    case Descriptor::plain:
      return crc + u32(truth.packed_size) + u32(size);
    case Descriptor::with_signature:
      return "PK\x07\x08" + crc + u32(truth.packed_size) + u32(size);
    case Descriptor::plain_wide:
      return crc + u64(truth.packed_size) + u64(size);
    case Descriptor::with_signature_wide:
      return "PK\x07\x08" + crc + u64(truth.packed_size) + u64(size);
  }
  return "";
}

std::string central_header(const Member& member, const Truth& truth) {
  return "PK\x01\x02" + u16((3U << 8) | 20U) + u16(member.version_needed) + u16(truth.flags) +
         u16(member.method) + u32(0x00210000) + u32(truth.crc) +
         u32(member.central_packed_size.value_or(truth.packed_size)) +
         u32(member.central_size.value_or(truth.size)) + u16(member.name.size()) +
         u16(member.central_extra.size()) + u16(member.comment.size()) + u16(0) + u16(0) +
         u32(member.attributes) + u32(member.offset.value_or(truth.offset)) + member.name +
         member.central_extra + member.comment;
}

std::string end_records(const Frame& frame, std::size_t entries, std::size_t offset,
                        std::size_t size, std::size_t position) {
  std::string end;
  if (frame.zip64_end) {
    const std::size_t claimed = entries + frame.zip64_entries_lie;
    end += "PK\x06\x06" + u64(44) + u16(45) + u16(45) + u32(0) + u32(0) + u64(claimed) +
           u64(claimed) + u64(size) + u64(offset);
    end += "PK\x06\x07" + u32(0) + u64(position) + u32(1);
  }
  const bool defer = frame.zip64_end && !frame.zip64_exact;
  const std::uint64_t count =
      frame.entries.value_or(static_cast<std::uint16_t>(defer ? 0xFFFF : entries));
  end += "PK\x05\x06" + u16(frame.disk.value_or(0)) + u16(0) + u16(count) + u16(count) +
         u32(frame.directory_size.value_or(static_cast<std::uint32_t>(defer ? 0xFFFFFFFF : size))) +
         u32(frame.directory_offset.value_or(
             static_cast<std::uint32_t>(defer ? 0xFFFFFFFF : offset))) +
         u16(frame.comment.size()) + frame.comment;
  return end;
}

}  // namespace

std::string little_endian(std::uint64_t value, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i) {
    bytes += static_cast<char>((value >> (8 * i)) & 0xFF);
  }
  return bytes;
}

std::string extra_block(std::uint16_t id, std::string_view content) {
  return u16(id) + u16(content.size()) + std::string(content);
}

std::string deflate(std::string_view content) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  if (compressor == nullptr) throw std::runtime_error("no memory for a compressor");
  std::string packed(libdeflate_deflate_compress_bound(compressor, content.size()), '\0');
  packed.resize(libdeflate_deflate_compress(compressor, content.data(), content.size(),
                                            packed.data(), packed.size()));
  libdeflate_free_compressor(compressor);
  return packed;
}

std::string build_zip(const std::vector<Member>& members, const Frame& frame) {
  std::string bytes = frame.before;
  std::vector<Truth> truths;
  for (const Member& member : members) {
    Truth truth = pack(member);
    bytes += member.gap;
    truth.offset = static_cast<std::uint32_t>(bytes.size());
    bytes += local_header(member, truth) + truth.packed + descriptor(member, truth);
    truths.push_back(std::move(truth));
  }
  bytes += frame.before_directory;
  const std::size_t directory = bytes.size();
  std::size_t entries = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!members[i].in_directory) continue;
    bytes += central_header(members[i], truths[i]);
    ++entries;
  }
  const std::size_t size = bytes.size() - directory;
  bytes += frame.after_directory;
  bytes += end_records(frame, entries, directory, size, bytes.size());
  return bytes + frame.after_end;
}

}  // namespace axle::wheel::testing
