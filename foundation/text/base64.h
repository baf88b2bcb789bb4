#pragma once
// Base64 as RFC 4648 §4 defines it: the plain alphabet, padded, one spelling for any bytes.

#include <optional>
#include <string>
#include <string_view>

namespace axle::text {

[[nodiscard]] std::string encode_base64(std::string_view bytes);
/// nullopt for anything that encode_base64 does not give: white space, missing padding, bits after
/// the last byte that are not zero.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace axle::text
