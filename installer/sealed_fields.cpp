#include "installer/sealed_fields.h"

#include <algorithm>

#include <fmt/format.h>

#include "wheel/hash/sha256.h"

namespace axle::installer {

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

void seal_fields(std::string& text) {
  const std::string hash = wheel::render_hex(wheel::sha256(text));
  append_field(text, hash);
}

Result<std::string_view> open_sealed_fields(std::string_view text, std::string_view name,
                                            std::string_view version, std::string_view what,
                                            std::string_view where) {
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
  constexpr std::size_t hash_field = 65;  // 64 digits and NUL
  if (rest.size() < hash_field) return malformed(fmt::format("the {} is truncated", what));
  const std::string_view body = text.substr(0, text.size() - hash_field);
  const std::string_view hash = text.substr(body.size(), hash_field - 1);
  if (text.back() != '\0' || wheel::render_hex(wheel::sha256(body)) != hash) {
    return malformed(fmt::format("the {} does not match its own hash", what));
  }
  rest.remove_suffix(hash_field);
  return rest;
}

}  // namespace axle::installer
