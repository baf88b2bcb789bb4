#include "index/http/kept_form.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <limits>

#include <fcntl.h>
#include <libdeflate.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"

namespace axle::index {
namespace {

/// Of the layout: another number, and every form is made again.
constexpr std::array<char, 16> format = {'a', 'x', 'l', 'e',  ' ', 'f', 'o', 'r',
                                         'm', ' ', '1', '\n', 0,   0,   0,   0};
constexpr std::size_t hash_length = 64;

/// Followed by the texts of the answer, in the order of their lengths.
struct Header {
  std::array<char, 16> format{};
  std::uint64_t checksum = 0;  ///< of what follows, with the texts
  std::array<char, hash_length> key{};
  std::array<char, identity_length> identity{};
  std::array<char, hash_length> sha256{};
  std::uint64_t body_size = 0;
  std::int32_t status = 0;
  std::array<std::uint32_t, 5> texts{};
};
static_assert(sizeof(Header) == 16 + 8 + 3 * 64 + 8 + 4 + 5 * 4);
constexpr std::size_t checked_from = 24;

}  // namespace

// ISA-L's CRC-64 is not used: on a CPU without PCLMULQDQ it ends with an illegal instruction
// (2.30, Nehalem).
std::uint64_t form_checksum(std::uint64_t seed, std::string_view bytes) {
  const std::uint64_t crc =
      ::libdeflate_crc32(static_cast<std::uint32_t>(seed), bytes.data(), bytes.size());
  const std::uint64_t adler =
      ::libdeflate_adler32(static_cast<std::uint32_t>(seed >> 32), bytes.data(), bytes.size());
  return adler << 32 | crc;
}

std::string encode_form_head(std::string_view key_hash, std::string_view identity,
                             const AnswerHead& answer) {
  const HttpResponse& response = answer.response;
  const std::array<std::string_view, 5> texts = {response.url, response.content_type, response.etag,
                                                 response.last_modified, response.cache_control};
  Header header;
  header.format = format;
  std::ranges::copy(key_hash.substr(0, hash_length), header.key.begin());
  std::ranges::copy(identity.substr(0, identity_length), header.identity.begin());
  std::ranges::copy(answer.sha256.substr(0, hash_length), header.sha256.begin());
  header.body_size = answer.body_size;
  header.status = response.status;
  std::string bytes(sizeof header, '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) {
    header.texts[i] = static_cast<std::uint32_t>(texts[i].size());
    bytes += texts[i];
  }
  std::memcpy(bytes.data(), &header, sizeof header);
  header.checksum = form_checksum(0, std::string_view(bytes).substr(checked_from));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::optional<DecodedFormHead> decode_form_head(std::string_view bytes, std::string_view key_hash) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.format != format) return std::nullopt;
  std::uint64_t length = sizeof header;
  for (const std::uint32_t text : header.texts) length += text;
  if (length > bytes.size()) return std::nullopt;
  const std::string_view checked = bytes.substr(checked_from, length - checked_from);
  if (form_checksum(0, checked) != header.checksum) return std::nullopt;
  if (std::string_view(header.key.data(), hash_length) != key_hash) return std::nullopt;
  DecodedFormHead head;
  head.identity.assign(header.identity.data(), identity_length);
  head.answer.sha256.assign(header.sha256.data(), hash_length);
  head.answer.body_size = header.body_size;
  head.length = length;
  HttpResponse& response = head.answer.response;
  response.status = header.status;
  std::size_t at = sizeof header;
  std::size_t text = 0;
  for (std::string* const out : {&response.url, &response.content_type, &response.etag,
                                 &response.last_modified, &response.cache_control}) {
    *out = bytes.substr(at, header.texts[text]);
    at += header.texts[text++];
  }
  return head;
}

bool read_form_part(const std::string& path, std::uint64_t offset, std::size_t length, char* out) {
  // Read, not mapped: a mapping of a file that somebody shortens would end the program.
  const system::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  constexpr std::uint64_t most = std::numeric_limits<off_t>::max();
  if (!file || offset > most || length > most - offset) return false;
  while (length > 0) {
    const ssize_t got = ::pread(file.get(), out, length, static_cast<off_t>(offset));
    if (got <= 0) return false;
    offset += static_cast<std::uint64_t>(got);
    length -= static_cast<std::size_t>(got);
    out += got;
  }
  return true;
}

std::optional<std::string> read_whole_form(const KeptForm& form) {
  std::string bytes(form.begin);
  if (bytes.size() >= form.size) return bytes;
  const std::size_t known = bytes.size();
  bytes.resize(form.size);
  if (!read_form_part(form.path, form.offset + known, bytes.size() - known, bytes.data() + known))
    return std::nullopt;
  return bytes;
}

}  // namespace axle::index
