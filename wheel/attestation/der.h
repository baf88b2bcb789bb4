#pragma once
// The values of a DER encoding (X.690), one after the other: as much as the extensions of a
// certificate need.

#include <optional>
#include <string_view>

namespace axle::wheel {

struct DerValue {
  unsigned tag = 0;  ///< the identifier octet: class, constructed or not, number below 31
  std::string_view content;
};

inline constexpr unsigned der_octet_string = 0x04;
inline constexpr unsigned der_utf8_string = 0x0c;
inline constexpr unsigned der_sequence = 0x30;

class DerReader {
 public:
  explicit DerReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  /// nullopt: there is none, or it is not DER (longer tags, indefinite or needlessly long lengths).
  [[nodiscard]] std::optional<DerValue> next();

 private:
  std::string_view rest_;
};

/// The content of the one value that `bytes` are; nullopt: it has another tag, or something
/// follows.
[[nodiscard]] std::optional<std::string_view> der_content(std::string_view bytes, unsigned tag);

}  // namespace axle::wheel
