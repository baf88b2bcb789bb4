#include "index/http/content_coding.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

namespace axle::index {
namespace {

constexpr std::size_t chunk_size = 64U << 10;

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

/// Whole bytes that ISA-L has read after the end of the stream.
std::size_t unused_input(const inflate_state& state) {
  return state.avail_in + static_cast<std::size_t>(std::max(state.read_in_length, 0)) / 8;
}

}  // namespace

Result<std::string> decode_body(std::string body, std::string_view coding, std::uint64_t max_bytes,
                                const std::string& where) {
  if (coding.empty() || coding == "identity") return body;
  const std::optional<std::uint32_t> format = format_of(coding);
  if (!format) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} is sent as '{}', but only {} was requested", where, coding,
                            accepted_codings),
                "report it to the server's operator");
  }
  if (body.empty()) return body;
  const auto state = std::make_unique_for_overwrite<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = *format;
  state->next_in = reinterpret_cast<std::uint8_t*>(body.data());
  state->avail_in = static_cast<std::uint32_t>(body.size());
  const auto buffer = std::make_unique_for_overwrite<std::uint8_t[]>(chunk_size);
  std::string text;
  while (state->block_state != ISAL_BLOCK_FINISH) {
    state->next_out = buffer.get();
    state->avail_out = static_cast<std::uint32_t>(chunk_size);
    const std::uint32_t before = state->avail_in;
    const int answer = isal_inflate(state.get());
    if (answer != ISAL_DECOMP_OK && answer != ISAL_END_INPUT) return damaged(where, "is damaged");
    const std::size_t produced = chunk_size - state->avail_out;
    if (produced > max_bytes - text.size()) {
      return fail(ErrorKind::io,
                  fmt::format("{} sends more than the {} bytes allowed here", where, max_bytes),
                  "this is not the file that was expected; check the index URL");
    }
    text.append(reinterpret_cast<const char*>(buffer.get()), produced);
    if (produced == 0 && state->avail_in == before && state->block_state != ISAL_BLOCK_FINISH) {
      return damaged(where, "ends early");
    }
  }
  if (unused_input(*state) != 0) return damaged(where, "has data after its end");
  return text;
}

}  // namespace axle::index
