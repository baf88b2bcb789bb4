#include "cli/session.h"

#include <filesystem>

#include <fmt/core.h>

#include "cli/variables.h"
#include "detect/probe.h"

namespace axle::cli {

Outcome<std::vector<machines::NamedMachine>> Session::machines() {
  std::vector<machines::NamedMachine> found;
  if (!elsewhere()) {
    const auto host = detect::make_real_host();
    found.push_back({"this machine", detect::probe_machine(*host)});
    return found;
  }
  for (const std::string& what : arguments_.values(Opt::for_machine)) {
    auto selected = machines::select_machines(what, output_);
    if (!selected) {
      Failure failure{selected.error()};
      if (failure.error.kind == ErrorKind::not_found) {
        failure.exit_code = exit_usage;
        failure.usage = true;
      }
      return std::unexpected(failure);
    }
    for (machines::NamedMachine& machine : *selected) found.push_back(std::move(machine));
  }
  if (found.empty()) return misused("--for names no machine");
  return found;
}

Outcome<machines::NamedMachine> Session::machine() {
  auto found = machines();
  if (!found) return std::unexpected(found.error());
  if (found->size() != 1) {
    return misused(fmt::format("this command takes one machine, --for names {}", found->size()),
                   "`variant resolve` and `variant explain` take several");
  }
  return std::move(found->front());
}

std::string Session::cache_folder() const {
  if (arguments_.has(Opt::no_cache)) return {};
  const std::string folder = named_cache_folder();
  std::error_code error;
  return folder.empty() ? folder : std::filesystem::absolute(folder, error).string();
}

std::string Session::named_cache_folder() const {
  if (arguments_.has(Opt::cache_dir)) return arguments_.value(Opt::cache_dir);
  if (std::string folder = variable("AXLE_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/axle";
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : home + "/.cache/axle";
}

}  // namespace axle::cli
