#include "session/projects/locked_versions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::session {

void LockedVersions::add(std::string_view name, const std::string& version) {
  const auto parsed = wheel::parse_version(version);
  versions_[wheel::normalize_name(name)].insert(parsed ? wheel::render_version(*parsed) : version);
}

void LockedVersions::finish(const std::string& where, const std::set<std::string>* wanted,
                            ImportedProject& into) const {
  for (const auto& [name, versions] : versions_) {
    if (wanted != nullptr && !wanted->contains(name)) continue;
    if (versions.size() == 1) {
      into.pins[name] = *versions.begin();
    } else {
      into.warn(fmt::format("{}: no version of {} is preferred: it has {}", where, name,
                            fmt::join(versions, ", ")),
                "the lock chooses the newest that fits each class");
    }
  }
}

}  // namespace axle::session
