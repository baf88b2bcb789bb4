#pragma once
// What a row of the matrix says about how it is built: in [tool.axle] for all rows, in a value of
// an axis, in a product, in [[tool.axle.variant]].

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/documents/toml_reader.h"

namespace axle::builder {

/// Names and values: CMake cache variables, environment variables.
using Definitions = std::vector<std::pair<std::string, std::string>>;

struct RowSettings {
  /// Whether compiler flags follow from the properties. Unset: they do.
  std::optional<bool> flags = {};
  std::optional<std::string> march = {};  ///< in place of the derived -march=
  std::optional<std::string> tune = {};   ///< in place of the derived -mtune=; empty: none
  std::vector<std::string> compile_args = {};
  // In place of those that follow from the properties; empty lists: none, and no such compiler.
  std::optional<std::vector<std::string>> cuda_architectures = {};
  std::optional<std::vector<std::string>> hip_architectures = {};
  std::optional<std::vector<std::string>> sycl_targets = {};
  Definitions define = {};           ///< CMake cache variables
  Definitions environment = {};      ///< of everything that builds the row
  Definitions config_settings = {};  ///< of a build back end; a name may be there repeatedly
  /// Whether the row is left out where its compilers are missing, unless it is asked for.
  std::optional<bool> optional = {};
  std::vector<std::string> architectures = {};  ///< "x86_64"; a row for each
  std::string wheel = {};                       ///< one that exists, relative to the project
  /// Where it is said, for errors: "march", "environment.CC", "compile-args -O3", and properties as
  /// they are rendered; "pyproject.toml:12".
  std::map<std::string, std::string, std::less<>> places = {};

  /// Of one of them; `otherwise` of what is not said here.
  [[nodiscard]] std::string place_of(std::string_view what, std::string_view otherwise) const;
};

enum class SettingsScope : std::uint8_t {
  project,  ///< [tool.axle], where `cmake` is another table
  row,
};

/// The keys of `table` that concern it; others are left to the caller.
[[nodiscard]] RowSettings read_row_settings(documents::TomlTable& table, SettingsScope scope);

/// `table` holds CMake cache variables under `key`.
[[nodiscard]] Definitions read_definitions(documents::TomlTable& table, std::string_view key);

/// What `above` says replaces what `below` says; lists of definitions are combined by name.
[[nodiscard]] RowSettings overlaid(RowSettings below, const RowSettings& above);

}  // namespace axle::builder
