#include "session/inventory.h"

#include "session/workspace.h"

namespace axle::session {

Outcome<Inventory> take_inventory(Session& session) {
  auto environment = open_environment(session, false);
  if (!environment) return std::unexpected(environment.error());
  auto distributions = installer::list_installed(*environment, session.report());
  if (!distributions) return failed(distributions.error());
  return Inventory{std::move(*environment), std::move(*distributions)};
}

std::string version_of(const installer::InstalledDistribution& distribution) {
  return wheel::render_version(distribution.metadata.version);
}

}  // namespace axle::session
