#include "resolver/choice/withheld_labels.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace axle::resolver {

bool is_withheld(const WithheldBuilds& withheld, const std::string& name, const Release& release,
                 const CandidateWheel& wheel) {
  if (withheld.empty()) return false;
  const auto labels = withheld.find(release.family != nullptr ? release.family->name : name);
  return labels != withheld.end() && labels->second.contains(wheel.label);
}

std::string render_withheld(const WithheldBuilds& withheld, const std::string& name,
                            const Release& release) {
  std::set<std::string> labels;
  for (const CandidateWheel& wheel : release.candidates) {
    const bool usable = wheel.tag_index != wheel::SupportedTags::npos;
    if (usable && is_withheld(withheld, name, release, wheel))
      labels.insert(wheel.is_variant() ? wheel.label : "the plain wheel");
  }
  if (labels.empty()) return {};
  return fmt::format("; {} {} left out (--minimize builds, --budget)", fmt::join(labels, ", "),
                     labels.size() == 1 ? "is" : "are");
}

}  // namespace axle::resolver
