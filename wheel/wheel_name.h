#pragma once
// Wheel file names with variant labels (PEP 427, PEP 825):
// {dist}-{version}(-{build})?-{python}-{abi}-{platform}(-{label})?.whl

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/tag.h"
#include "wheel/version.h"

namespace axle::wheel {

/// PEP 427 build tag: leading number, then the rest; compared as that pair. Absent sorts first.
using BuildTag = std::pair<std::uint64_t, std::string>;

struct WheelName {
  std::string distribution;  ///< as written, "my_pkg"
  Version version;
  std::optional<BuildTag> build;
  std::string tags_text;  ///< "cp311-cp311-manylinux_2_28_x86_64", as written
  std::vector<Tag> tags;  ///< expanded
  std::string label;      ///< variant label; empty for a plain wheel

  [[nodiscard]] bool is_variant() const { return !label.empty(); }
};

/// A variant label is valid: ^[0-9a-z_.]+$ (PEP 825).
[[nodiscard]] bool is_valid_label(std::string_view label);

/// `file_name` is the last path component, percent-decoding done by the caller. Error: malformed.
[[nodiscard]] Result<WheelName> parse_wheel_name(std::string_view file_name);
/// Distribution and version in wheel spelling ("-" -> "_"): the inverse of parse_wheel_name.
[[nodiscard]] std::string render_wheel_name(const WheelName& name);
/// `{name}-{version}-variants.json` with both spelled as in wheel file names (PEP 825).
[[nodiscard]] std::string variants_file_name(std::string_view distribution, const Version& version);
/// Name spelled as in wheel file names: normalised, "-" -> "_".
[[nodiscard]] std::string wheel_distribution(std::string_view name);

}  // namespace axle::wheel
