#include "resolver/classes/python_bounds.h"

#include <fmt/format.h>

#include "wheel/marker_node.h"

namespace axle::resolver {
namespace {

std::uint64_t number_at(const wheel::Version& version, std::size_t place) {
  return place < version.release.size() ? version.release[place] : 0;
}

template <class Note>
void each_clause(const wheel::Marker::Node& node, const Note& note) {
  if (node.clause) note(*node.clause);
  for (const wheel::Marker::Node& item : node.items) each_clause(item, note);
}

}  // namespace

void PythonBounds::note(const wheel::Specifier& specifier, const wheel::Version& python) {
  const wheel::Version& version = specifier.version;
  if (number_at(version, 0) != number_at(python, 0) ||
      number_at(version, 1) != number_at(python, 1))
    return;
  // "==3.11.*" is about the minor release.
  constexpr std::size_t numbers = 3;
  if (specifier.wildcard && version.release.size() < numbers) return;
  using wheel::Comparison;
  const std::uint64_t patch = number_at(version, 2);
  const bool is_final = !version.pre && !version.dev;
  const Comparison how = specifier.comparison;
  const bool from_it = how != Comparison::greater && how != Comparison::less_equal;
  const bool after_it =
      how != Comparison::greater_equal && how != Comparison::less && how != Comparison::compatible;
  // No final release is a pre-release: what is compared with one changes at its own final.
  if (from_it || !is_final) patches_.insert(patch);
  if (after_it && is_final) patches_.insert(patch + 1);
}

void PythonBounds::note(const wheel::SpecifierSet& requires_python, const wheel::Version& python) {
  for (const wheel::Specifier& specifier : requires_python.specifiers) note(specifier, python);
}

void PythonBounds::note(const wheel::Marker& marker, const wheel::Version& python) {
  if (marker.root() == nullptr) return;
  each_clause(*marker.root(), [&](const wheel::MarkerClause& clause) {
    const bool of_patch =
        clause.variable == "python_full_version" || clause.variable == "implementation_version";
    if (of_patch && clause.specifier) note(*clause.specifier, python);
  });
}

std::string PythonBounds::releases_around(const wheel::Version& python) const {
  const std::uint64_t own = number_at(python, 2);
  const auto above = patches_.upper_bound(own);
  const auto release = [&](std::uint64_t patch) {
    return fmt::format("{}.{}.{}", number_at(python, 0), number_at(python, 1), patch);
  };
  std::string text;
  if (above != patches_.begin() && *std::prev(above) > 0) text = ">=" + release(*std::prev(above));
  if (above != patches_.end()) text += (text.empty() ? "<" : ",<") + release(*above);
  return text;
}

}  // namespace axle::resolver
