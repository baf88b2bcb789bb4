#include "session/projects/class_machine.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "session/target/stated_platform.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// As select_machines has it, with the path of a profile counted from the project.
std::string placed(const std::string& machine, const std::string& folder) {
  std::error_code absent;
  const bool whole = fs::exists(fs::path(folder) / machine, absent);
  const std::string head = whole ? machine : machine.substr(0, machine.find(';'));
  const auto shipped = machines::shipped_names();
  if (std::ranges::binary_search(shipped, head)) return machine;
  const bool is_path = head.contains('/') || head.ends_with(".json") ||
                       (!head.contains(':') && fs::exists(fs::path(folder) / head, absent));
  return is_path ? (fs::path(folder) / machine).lexically_normal().string() : machine;
}

}  // namespace

Outcome<machines::NamedMachine> machine_of(const MachineClass& about, const Project& project,
                                           Session& session) {
  const auto refuse = [&](const Error& error) {
    return misused(fmt::format("{}: class {}: {}", about.origin, about.name, error.message),
                   error.hint);
  };
  Arguments stated;
  if (!about.platform.empty()) stated.add(Opt::python_platform, about.platform);
  const auto platform = read_stated_platform(stated);
  if (!platform) return refuse(platform.error().error);
  if (is_this_machine(about.machine)) {
    if (*platform)
      return refuse({ErrorKind::malformed, "this machine has its own platform",
                     "leave `platform` out, or name another machine"});
    return session.machine();
  }
  auto found = machines::select_machines(placed(about.machine, project.folder), session.report(),
                                         *platform ? &(*platform)->facts : nullptr);
  if (!found) return refuse(found.error());
  if (found->size() != 1)
    return refuse({ErrorKind::malformed,
                   fmt::format("{} has {} profiles, and a class is one machine", about.machine,
                               found->size()),
                   "make a class of each of them"});
  found->front().name = about.machine;
  return std::move(found->front());
}

}  // namespace axle::session
