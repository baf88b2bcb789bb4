#pragma once
// Properties that no machine has together.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/capability.h"

namespace axle::providers {

struct PropertyText {
  std::string_view ns;
  std::string_view feature;
  std::string_view value;
};

/// The CPU architecture whose machines alone may have it; Arch::other: it is of none. Of the
/// namespace alone: what it says need not be known here.
[[nodiscard]] detect::Arch architecture_of(const PropertyText& property);

/// Why no machine has all of them: they are of two CPU architectures, or a lower bound is not below
/// the upper one. Empty: one may. Values of one feature are alternatives.
[[nodiscard]] std::string contradiction_of(std::span<const PropertyText> properties);

/// The same of anything with ns, feature and value.
template <class Properties>
[[nodiscard]] std::string contradiction_in(const Properties& properties) {
  std::vector<PropertyText> texts;
  for (const auto& one : properties) texts.push_back({one.ns, one.feature, one.value});
  return contradiction_of(texts);
}

}  // namespace axle::providers
