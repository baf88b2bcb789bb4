#include "doctor/audit/image/tar_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace axle::doctor {
namespace {

constexpr std::uint64_t block_size = 512;

std::uint64_t padding_of(std::uint64_t size) {
  return (block_size - size % block_size) % block_size;
}

/// A number of a header: octal, or binary with the highest bit set (GNU). nullopt: it is neither.
std::optional<std::uint64_t> parse_number(std::string_view field) {
  std::uint64_t value = 0;
  if (!field.empty() && (static_cast<unsigned char>(field.front()) & 0x80U) != 0) {
    for (std::size_t i = 0; i < field.size(); ++i) {
      if (value >> 55 != 0) return std::nullopt;
      const unsigned digit = static_cast<unsigned char>(field[i]) & (i == 0 ? 0x7FU : 0xFFU);
      value = value << 8 | digit;
    }
    return value;
  }
  while (field.starts_with(' ')) field.remove_prefix(1);
  const std::size_t end = std::min(field.find_first_of(std::string_view(" \0", 2)), field.size());
  if (end == 0) return 0;
  const auto [stop, error] = std::from_chars(field.data(), field.data() + end, value, 8);
  if (error != std::errc() || stop != field.data() + end) return std::nullopt;
  return value;
}

std::string_view text_of(const char* field, std::size_t size) {
  return {field, ::strnlen(field, size)};
}

/// Puts the name into its normal form.
void set_name(std::string_view text, TarMember& member) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('/'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (part.empty() || part == ".") continue;
    if (part == "..") member.outside = true;
    if (!member.name.empty()) member.name += '/';
    member.name += part;
  }
}

TarKind kind_of(char type) {
  switch (type) {
    case '\0':
    case '0':
    case '7':
    case 'S':
      return TarKind::file;
    case '1':
      return TarKind::hard_link;
    case '2':
      return TarKind::symlink;
    case '5':
      return TarKind::folder;
    case '3':
    case '4':
    case '6':
      return TarKind::device;
    default:
      return TarKind::other;
  }
}

}  // namespace

std::optional<std::string> tar_name(std::string_view text) {
  TarMember member;
  set_name(text, member);
  if (member.outside) return std::nullopt;
  return std::move(member.name);
}

/// POSIX.1-2017, "ustar Interchange Format".
struct TarReader::Header {
  char name[100];
  char mode[8];
  char uid[8];
  char gid[8];
  char size[12];
  char mtime[12];
  char checksum[8];
  char type;
  char link[100];
  char magic[8];
  char user[32];
  char group[32];
  char major[8];
  char minor[8];
  char prefix[155];
  char rest[12];

  [[nodiscard]] bool is_zero() const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(this);
    return std::all_of(bytes, bytes + sizeof(Header), [](unsigned char c) { return c == 0; });
  }
  /// Some writers add signed bytes.
  [[nodiscard]] bool is_valid() const {
    const auto said = parse_number({checksum, sizeof(checksum)});
    std::int64_t plain = 0;
    std::int64_t with_sign = 0;
    const auto* bytes = reinterpret_cast<const char*>(this);
    for (std::size_t i = 0; i < sizeof(Header); ++i) {
      const bool own = i >= offsetof(Header, checksum) && i < offsetof(Header, type);
      const char c = own ? ' ' : bytes[i];
      plain += static_cast<unsigned char>(c);
      with_sign += static_cast<signed char>(c);
    }
    return said && (static_cast<std::int64_t>(*said) == plain ||
                    static_cast<std::int64_t>(*said) == with_sign);
  }
};

/// What headers before the member's own said.
struct TarReader::Said {
  std::string name;
  std::string link;
  std::optional<std::uint64_t> size;
  bool sparse = false;
};

std::unexpected<Error> TarReader::damaged(std::string_view why) const {
  return fail(ErrorKind::malformed, fmt::format("{}: at byte {}: {}", where_, position_, why),
              "the archive is damaged or truncated");
}

/// False: the end of the stream, where a block may begin.
Result<bool> TarReader::read_block(std::span<std::byte> block) {
  std::size_t filled = 0;
  while (filled < block.size()) {
    auto read = stream_.read(block.subspan(filled));
    if (!read) return std::unexpected(std::move(read).error());
    if (*read == 0) break;
    filled += *read;
  }
  if (filled != 0 && filled != block.size()) return damaged("it ends within a header");
  position_ += filled;
  return filled != 0;
}

Result<void> TarReader::skip(std::uint64_t bytes) {
  auto skipped = stream_.skip(bytes);
  if (!skipped) return std::unexpected(std::move(skipped).error());
  position_ += *skipped;
  if (*skipped < bytes) return damaged("it ends within a file");
  return {};
}

Result<std::string> TarReader::read_text(std::uint64_t size) {
  if (size > limits_.longest_header) return damaged(fmt::format("a header of {} bytes", size));
  std::string text(size, '\0');
  std::span<char> room(text);
  while (!room.empty()) {
    auto read = stream_.read(std::as_writable_bytes(room));
    if (!read) return std::unexpected(std::move(read).error());
    if (*read == 0) return damaged("it ends within a header");
    position_ += *read;
    room = room.subspan(*read);
  }
  if (auto skipped = skip(padding_of(size)); !skipped)
    return std::unexpected(std::move(skipped).error());
  return text;
}

/// "27 path=some/long/name\n"
Result<void> TarReader::take_pax(std::string_view text, Said& said) const {
  while (!text.empty()) {
    std::size_t length = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    const auto digits = static_cast<std::size_t>(stop - text.data());
    if (error != std::errc() || length <= digits + 1 || length > text.size() ||
        text[digits] != ' ' || text[length - 1] != '\n')
      return damaged("a pax header that is not valid");
    const std::string_view record = text.substr(digits + 1, length - digits - 2);
    text.remove_prefix(length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos) return damaged("a pax header that is not valid");
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path" || key == "GNU.sparse.name") said.name = value;
    if (key == "linkpath") said.link = value;
    if (key.starts_with("GNU.sparse.")) said.sparse = true;
    if (key != "size") continue;
    std::uint64_t size = 0;
    const auto number = std::from_chars(value.data(), value.data() + value.size(), size);
    if (number.ec != std::errc() || number.ptr != value.data() + value.size())
      return damaged("a size that is not a number");
    said.size = size;
  }
  return {};
}

/// Of GNU's old form: a flag says that another one follows.
Result<void> TarReader::skip_sparse_headers(const Header& header) {
  constexpr std::size_t flag_in_header = 482;
  constexpr std::size_t flag_in_further = 504;
  constexpr std::size_t most = 100'000;
  std::array<std::byte, block_size> block{};
  std::memcpy(block.data(), &header, sizeof(header));
  std::size_t flag = flag_in_header;
  for (std::size_t i = 0; block[flag] != std::byte{0}; ++i) {
    auto read = read_block(block);
    if (!read) return std::unexpected(std::move(read).error());
    if (!*read || i == most) return damaged("headers of a sparse file without an end");
    flag = flag_in_further;
  }
  return {};
}

Result<TarMember> TarReader::make_member(const Header& header, Said said) {
  const auto size = parse_number({header.size, sizeof(header.size)});
  if (!size) return damaged("a size that is not a number");
  TarMember member;
  member.kind = kind_of(header.type);
  member.sparse = said.sparse || header.type == 'S';
  if (said.name.empty()) {
    constexpr std::string_view posix("ustar\0", 6);
    const std::string_view prefix = std::string_view(header.magic, posix.size()) == posix
                                        ? text_of(header.prefix, sizeof(header.prefix))
                                        : std::string_view();
    said.name = prefix;
    if (!said.name.empty()) said.name += '/';
    said.name += text_of(header.name, sizeof(header.name));
  }
  if (said.name.size() > limits_.longest_name || said.name.contains('\0'))
    return damaged("a name that is not valid");
  set_name(said.name, member);
  member.size = said.size.value_or(*size);
  if (member.kind == TarKind::hard_link || member.kind == TarKind::symlink) {
    member.link = said.link.empty() ? std::string(text_of(header.link, sizeof(header.link)))
                                    : std::move(said.link);
    if (member.link.size() > limits_.longest_name || member.link.contains('\0'))
      return damaged("a name that is not valid");
  }
  // Links, folders and devices have no content, whatever their size says.
  if (member.kind != TarKind::file && member.kind != TarKind::other) member.size = 0;
  if (member.size > UINT64_MAX / 2) return damaged("a size that no file has");
  if (header.type == 'S') {
    if (auto skipped = skip_sparse_headers(header); !skipped)
      return std::unexpected(std::move(skipped).error());
  }
  member.offset = position_;
  left_ = member.size;
  padding_ = padding_of(member.size);
  return member;
}

Result<std::optional<TarMember>> TarReader::next() {
  if (auto skipped = skip(left_ + padding_); !skipped)
    return std::unexpected(std::move(skipped).error());
  left_ = padding_ = 0;
  Said said;
  while (true) {
    Header header{};
    static_assert(sizeof(header) == block_size);
    const auto read = read_block(std::as_writable_bytes(std::span(&header, 1)));
    if (!read) return std::unexpected(read.error());
    if (!*read || header.is_zero()) return std::optional<TarMember>();
    if (!header.is_valid()) return damaged("a header with a wrong checksum");
    if (++count_ > limits_.members)
      return damaged(fmt::format("more than {} members", limits_.members));
    const bool pax = header.type == 'x' || header.type == 'g';
    const bool long_name = header.type == 'L' || header.type == 'K';
    if (!pax && !long_name) {
      auto member = make_member(header, std::move(said));
      if (!member) return std::unexpected(std::move(member).error());
      return std::optional(std::move(*member));
    }
    const auto size = parse_number({header.size, sizeof(header.size)});
    if (!size) return damaged("a size that is not a number");
    auto text = read_text(*size);
    if (!text) return std::unexpected(std::move(text).error());
    if (header.type == 'K') said.link = text->substr(0, text->find('\0'));
    if (header.type == 'L') said.name = text->substr(0, text->find('\0'));
    if (header.type == 'x') {
      if (auto taken = take_pax(*text, said); !taken)
        return std::unexpected(std::move(taken).error());
    }
  }
}

Result<std::size_t> TarReader::read(std::span<std::byte> out) {
  if (left_ == 0) return 0;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, out.size()));
  auto read = stream_.read(out.first(size));
  if (!read) return std::unexpected(std::move(read).error());
  if (*read == 0 && size != 0) return damaged("it ends within a file");
  left_ -= *read;
  position_ += *read;
  return *read;
}

}  // namespace axle::doctor
