#include "wheel/attestation/der.h"

#include <cstddef>

namespace axle::wheel {

std::optional<DerValue> DerReader::next() {
  constexpr unsigned long_tag = 0x1f;
  if (rest_.size() < 2) return std::nullopt;
  const auto byte = [&](std::size_t at) -> unsigned {
    return static_cast<unsigned char>(rest_[at]);
  };
  const unsigned tag = byte(0);
  if ((tag & long_tag) == long_tag) return std::nullopt;
  std::size_t length = byte(1);
  std::size_t begin = 2;
  if (length >= 0x80) {
    const std::size_t bytes = length & 0x7f;
    if (bytes == 0 || bytes > 3 || rest_.size() < begin + bytes) return std::nullopt;
    length = 0;
    for (std::size_t i = 0; i < bytes; ++i) length = length << 8 | byte(begin + i);
    begin += bytes;
    const bool needless = length < 0x80 || length >> (8 * (bytes - 1)) == 0;
    if (needless) return std::nullopt;
  }
  if (rest_.size() - begin < length) return std::nullopt;
  const DerValue value{tag, rest_.substr(begin, length)};
  rest_.remove_prefix(begin + length);
  return value;
}

std::optional<std::string_view> der_content(std::string_view bytes, unsigned tag) {
  DerReader reader(bytes);
  const auto value = reader.next();
  if (!value || value->tag != tag || !reader.at_end()) return std::nullopt;
  return value->content;
}

}  // namespace axle::wheel
