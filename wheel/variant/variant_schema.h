#pragma once
// What the versions of the variant metadata have in common and where they part. Private to the
// metadata's reader, writer and merge.

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace axle::wheel {

struct SchemaVersion {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  friend auto operator<=>(const SchemaVersion&, const SchemaVersion&) = default;

  /// 0.0.x: priority tables, `enable-if`, `install-time`, a label of its own for the null variant.
  [[nodiscard]] bool is_draft() const { return major == 0 && minor == 0; }
};

inline constexpr SchemaVersion oldest_schema{0, 0, 2};
inline constexpr SchemaVersion providers_schema{0, 2, 0};  // from here on providers are required
inline constexpr SchemaVersion newest_schema{0, 2, 0};

/// "0.2.0"; nothing for any other text.
[[nodiscard]] std::optional<SchemaVersion> parse_schema_version(std::string_view text);
/// The version in a `$schema` URL: its last part is "v0.2.0.json". The bare address of the schema
/// site, which the first wheels carry, means 0.0.2.
[[nodiscard]] std::optional<SchemaVersion> schema_version_of(std::string_view url);
[[nodiscard]] std::string render_schema_version(const SchemaVersion& version);

/// Namespaces and features: ^[a-z0-9_]+$.
[[nodiscard]] bool is_property_name(std::string_view text);
/// Values: ^[a-z0-9_.]+$.
[[nodiscard]] bool is_property_value(std::string_view text);

}  // namespace axle::wheel
