#include "session/projects/chosen_versions.h"

#include <set>
#include <utility>

#include "resolver/solver/solver.h"
#include "session/workspace.h"
#include "wheel/requirement.h"

namespace axle::session {

Outcome<std::map<std::string, std::string, std::less<>>> chosen_versions(
    Session& session, const Project& project, const std::vector<std::string>& requirements) {
  Arguments arguments = session.arguments();
  arguments.positionals = requirements;
  arguments.add(Opt::requirement, project.file);
  RunOptions run{.command_line = arguments};
  Session asking(std::move(arguments), run, session.report(), session.pip_section());
  auto workspace = open_workspace(asking, Purpose::show);
  if (!workspace) return std::unexpected(workspace.error());
  const auto machine = asking.machine();
  if (!machine) return std::unexpected(machine.error());
  const resolver::Target target = make_target((*workspace)->environment, (*workspace)->stated,
                                              machine->machine, asking.elsewhere());
  const auto resolution =
      resolver::resolve((*workspace)->requests, target, {}, (*workspace)->sources,
                        (*workspace)->options, session.report());
  if (!resolution) return failed_to_resolve(resolution.error());
  std::set<std::string> wanted;
  for (const std::string& text : requirements) {
    if (const auto requirement = wheel::parse_requirement(text))
      wanted.insert(wheel::normalize_name(requirement->name));
  }
  std::map<std::string, std::string, std::less<>> versions;
  for (const plan::ResolvedPackage& package : resolution->packages) {
    std::string name = wheel::normalize_name(package.name);
    if (wanted.contains(name)) versions[std::move(name)] = wheel::render_version(package.version);
  }
  return versions;
}

}  // namespace axle::session
