#pragma once
// Forms that callers keep of cached bodies: a file beside the cache's entry that begins with all
// that the cache must know to answer with the form alone. The entry is not opened then.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "index/http/transport.h"

namespace axle::index {

/// The digits of a sha256.
inline constexpr std::size_t identity_length = 64;

/// An answer without its body, and what is known of that.
struct AnswerHead {
  HttpResponse response;
  std::string sha256;           ///< of the body as it is stored: as it came, if that is known
  std::uint64_t body_size = 0;  ///< decoded
};

/// What stands before the form of the body of `answer`. `identity`: FormPlace::identity.
[[nodiscard]] std::string encode_form_head(std::string_view key_hash, std::string_view identity,
                                           const AnswerHead& answer);

struct DecodedFormHead {
  AnswerHead answer;
  std::string identity;
  std::size_t length = 0;  ///< the form begins behind it
};

/// The head at the beginning of `bytes`; nullopt: it is damaged, of another entry or of another
/// version of Axle, or longer than `bytes`.
[[nodiscard]] std::optional<DecodedFormHead> decode_form_head(std::string_view bytes,
                                                              std::string_view key_hash);

/// The whole form; nullopt: its file was replaced or cut.
[[nodiscard]] std::optional<std::string> read_whole_form(const KeptForm& form);
/// `length` bytes of the file of a form, from `offset` on; false: they are not there.
[[nodiscard]] bool read_form_part(const std::string& path, std::uint64_t offset, std::size_t length,
                                  char* out);

/// Of a part of a form, begun with `seed`: against damage, not against intent.
[[nodiscard]] std::uint64_t form_checksum(std::uint64_t seed, std::string_view bytes);

}  // namespace axle::index
