#pragma once
// The form of the installer's own records: fields that end with NUL, the one byte that no path
// holds, and at the end a seal, the hash of all before it.

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::installer {

inline void append_field(std::string& text, std::string_view field) {
  text.append(field).push_back('\0');
}

template <std::integral Number>
void append_number(std::string& text, Number number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  append_field(text, std::string_view(digits.data(), end));
}

/// Takes the next field from `text`; nullopt at its end.
[[nodiscard]] std::optional<std::string_view> next_field(std::string_view& text);

template <std::integral Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && rest == text.data() + text.size();
}

template <std::integral Number>
[[nodiscard]] bool next_number(std::string_view& text, Number& number) {
  const auto field = next_field(text);
  return field && read_number(*field, number);
}

/// Relative, and only goes down.
[[nodiscard]] bool is_plain_path(std::string_view path);
/// The same, and not the folder in which Axle keeps its own state.
[[nodiscard]] bool is_safe_path(std::string_view path);

enum class Seal : std::uint8_t {
  sha256,
  crc32,  ///< of what is only kept, and read by every command: it needs no library of hashes
};

/// Appends the hash.
void seal_fields(std::string& text, Seal seal = Seal::sha256);

/// What is between the header, which is `name` and `version`, and the hash. `what` is for messages:
/// "journal". Errors: malformed, unsupported (another version).
[[nodiscard]] Result<std::string_view> open_sealed_fields(
    std::string_view text, std::string_view name, std::string_view version, std::string_view what,
    std::string_view where, Seal seal = Seal::sha256);

}  // namespace axle::installer
