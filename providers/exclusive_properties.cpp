#include "providers/exclusive_properties.h"

#include <algorithm>

#include "providers/gpu_archs.h"

namespace axle::providers {

namespace {

using detect::Arch;

constexpr std::string_view lower_bound = "_lower_bound";
constexpr std::string_view upper_bound = "_upper_bound";

// Without {fmt}, which the wheel of the Python plugin does not have.
std::string rendered(const PropertyText& property) {
  std::string text(property.ns);
  for (const std::string_view part : {property.feature, property.value})
    text.append(" :: ").append(part);
  return text;
}

std::string quoted(const PropertyText& property) { return '"' + rendered(property) + '"'; }

bool is_bound_pair(const PropertyText& lower, const PropertyText& upper) {
  return lower.ns == upper.ns && lower.feature.ends_with(lower_bound) &&
         upper.feature.ends_with(upper_bound) &&
         lower.feature.substr(0, lower.feature.size() - lower_bound.size()) ==
             upper.feature.substr(0, upper.feature.size() - upper_bound.size());
}

/// Bounds that are no numbers may be anything.
bool leave_room(const PropertyText& lower, const PropertyText& upper) {
  // A major alone is that of its first release ("12"), as an upper bound too.
  const auto number = [](std::string_view text) {
    const bool whole = text.find('.') == std::string_view::npos;
    return parse_major_minor(whole ? std::string(text) + ".0" : std::string(text));
  };
  const auto from = number(lower.value);
  const auto to = number(upper.value);
  return !from || !to || *from < *to;
}

/// Whether some pair of the values of these two features leaves room.
bool some_leave_room(std::span<const PropertyText> properties, const PropertyText& lower,
                     const PropertyText& upper) {
  return std::ranges::any_of(properties, [&](const PropertyText& from) {
    if (from.ns != lower.ns || from.feature != lower.feature) return false;
    return std::ranges::any_of(properties, [&](const PropertyText& to) {
      return to.ns == upper.ns && to.feature == upper.feature && leave_room(from, to);
    });
  });
}

}  // namespace

Arch architecture_of(const PropertyText& property) {
  if (property.ns == "x86_64") return Arch::x86_64;
  if (property.ns == "aarch64") return Arch::aarch64;
  if (property.ns == "axle" && property.feature.starts_with("arm_version")) return Arch::aarch64;
  const std::string text = rendered(property);
  const auto row = std::ranges::find(detect::capabilities(), std::string_view(text),
                                     &detect::CapabilityRow::property);
  return row == detect::capabilities().end() ? Arch::other : row->arch;
}

std::string contradiction_of(std::span<const PropertyText> properties) {
  const PropertyText* first = nullptr;
  Arch arch = Arch::other;
  for (const PropertyText& property : properties) {
    const Arch own = architecture_of(property);
    if (own == Arch::other) continue;
    if (first != nullptr && own != arch) {
      return quoted(*first) + " is of " + std::string(detect::render_arch(arch)) + ", " +
             quoted(property) + " of " + std::string(detect::render_arch(own));
    }
    first = &property;
    arch = own;
  }
  for (const PropertyText& lower : properties) {
    for (const PropertyText& upper : properties) {
      if (is_bound_pair(lower, upper) && !some_leave_room(properties, lower, upper))
        return quoted(lower) + " and " + quoted(upper) + " exclude each other";
    }
  }
  return {};
}

}  // namespace axle::providers
