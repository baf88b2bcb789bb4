#include "index/http/content_coding.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include "wheel/zip/isal.h"

namespace axle::index {
namespace {

constexpr std::size_t smallest_step = 64U << 10;
/// Readers of a page put a few bytes behind its end.
constexpr std::size_t room_behind = 128;

/// ISA-L checks the checksums of both.
std::optional<std::uint32_t> format_of(std::string_view coding) {
  if (coding == "gzip" || coding == "x-gzip") return ISAL_GZIP;
  if (coding == "deflate") return ISAL_ZLIB;
  return std::nullopt;
}

std::unexpected<Error> damaged(const std::string& where, std::string_view what) {
  return fail(ErrorKind::malformed,
              fmt::format("the compressed page {} {}: it may be incomplete", where, what),
              "try again; if the error persists, report it to the server's operator");
}

/// How long the text probably is: gzip says so at its end, which may lie.
std::size_t expected_length(std::string_view body, std::uint32_t format, std::uint64_t max_bytes) {
  constexpr std::size_t largest_ratio = 1032;  // of deflate
  std::uint32_t said = 0;
  if (format == ISAL_GZIP && body.size() > sizeof said)
    std::memcpy(&said, body.end() - sizeof said, sizeof said);
  return std::min<std::uint64_t>({said, max_bytes, body.size() * largest_ratio});
}

/// Whole bytes that ISA-L has read after the end of the stream.
std::size_t unused_input(const inflate_state& state) {
  return state.avail_in + static_cast<std::size_t>(std::max(state.read_in_length, 0)) / 8;
}

}  // namespace

Result<std::string> decode_body(std::string_view body, std::string_view coding,
                                std::uint64_t max_bytes, const std::string& where) {
  if (coding.empty() || coding == "identity") return std::string(body);
  const std::optional<std::uint32_t> format = format_of(coding);
  if (!format) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} is sent as '{}', but only {} was requested", where, coding,
                            accepted_codings),
                "report it to the server's operator");
  }
  if (body.empty()) return std::string();
  const auto state = std::make_unique_for_overwrite<inflate_state>();
  const wheel::zip::Isal& isal = wheel::zip::isal();
  isal.inflate_init(state.get());
  state->crc_flag = *format;
  // Only read, although ISA-L does not say so.
  state->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(body.data()));
  state->avail_in = static_cast<std::uint32_t>(body.size());
  std::string text;
  text.reserve(expected_length(body, *format, max_bytes) + room_behind);
  while (state->block_state != ISAL_BLOCK_FINISH) {
    const std::size_t length = text.size();
    if (text.capacity() == length) text.reserve(length + std::max(length, smallest_step));
    const std::uint32_t before = state->avail_in;
    int answer = ISAL_DECOMP_OK;
    text.resize_and_overwrite(text.capacity(), [&](char* bytes, std::size_t capacity) {
      state->next_out = reinterpret_cast<std::uint8_t*>(bytes + length);
      // One byte more than may come shows that there is more.
      state->avail_out = static_cast<std::uint32_t>(std::min<std::uint64_t>(
          {capacity - length, max_bytes - length + 1, std::numeric_limits<std::uint32_t>::max()}));
      const std::uint32_t room = state->avail_out;
      answer = isal.inflate(state.get());
      return length + (room - state->avail_out);
    });
    if (answer != ISAL_DECOMP_OK && answer != ISAL_END_INPUT) return damaged(where, "is damaged");
    const std::size_t produced = text.size() - length;
    if (text.size() > max_bytes) {
      return fail(ErrorKind::io,
                  fmt::format("{} sends more than the {} bytes allowed here", where, max_bytes),
                  "this is not the file that was expected; check the index URL");
    }
    if (produced == 0 && state->avail_in == before && state->block_state != ISAL_BLOCK_FINISH) {
      return damaged(where, "ends early");
    }
  }
  if (unused_input(*state) != 0) return damaged(where, "has data after its end");
  return text;
}

}  // namespace axle::index
