#include "installer/sealed_fields.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "wheel/hash/sha256.h"
#include "wheel/zip/zip_reader.h"

namespace axle::installer {

namespace {

std::string hash_of(std::string_view text, Seal seal) {
  if (seal == Seal::crc32)
    return fmt::format("{:08x}", wheel::continue_crc32(0, std::as_bytes(std::span(text))));
  return wheel::render_hex(wheel::sha256(text));
}

std::size_t digits_of(Seal seal) { return seal == Seal::crc32 ? 8 : 64; }

}  // namespace

std::optional<std::string_view> next_field(std::string_view& text) {
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end + 1);
  return field;
}

bool is_plain_path(std::string_view path) {
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

bool is_safe_path(std::string_view path) {
  return path != ".axle" && !path.starts_with(".axle/") && is_plain_path(path);
}

void seal_fields(std::string& text, Seal seal) { append_field(text, hash_of(text, seal)); }

Result<std::string_view> open_sealed_fields(std::string_view text, std::string_view name,
                                            std::string_view version, std::string_view what,
                                            std::string_view where, Seal seal) {
  const auto malformed = [&](const std::string& why) {
    return fail(ErrorKind::malformed, fmt::format("{}: {}", where, why));
  };
  std::string_view rest = text;
  const std::optional<std::string_view> header = next_field(rest);
  if (!header || !header->starts_with(name)) return malformed(fmt::format("no {}", what));
  if (header->substr(name.size()) != version) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: a {} of another version of Axle ({})", where, what, *header));
  }
  const std::size_t hash_field = digits_of(seal) + 1;  // and NUL
  if (rest.size() < hash_field) return malformed(fmt::format("the {} is truncated", what));
  const std::string_view body = text.substr(0, text.size() - hash_field);
  const std::string_view hash = text.substr(body.size(), hash_field - 1);
  if (text.back() != '\0' || hash_of(body, seal) != hash) {
    return malformed(fmt::format("the {} does not match its own hash", what));
  }
  rest.remove_suffix(hash_field);
  return rest;
}

}  // namespace axle::installer
