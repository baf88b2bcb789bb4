#include "cli/shells/words.h"

#include <algorithm>

#include "machines/selection.h"
#include "providers/provider.h"

namespace axle::cli {

namespace {

/// What is named like that in the help.
Proposal kind_of(std::string_view value) {
  if (value == "DIR") return Proposal::folders;
  for (const std::string_view file : {"FILE", "PLACE", "OUT", "LISTS", "METADATA", "PLUGIN", "P"})
    if (value == file) return Proposal::files;
  return Proposal::nothing;
}

}  // namespace

Proposals proposals_for(session::Opt id) {
  using session::Opt;
  const auto of = [](std::vector<std::string> words) {
    return Proposals{Proposal::words, std::move(words)};
  };
  switch (id) {
    case Opt::for_machine:
      return {Proposal::machines, machines::shipped_names()};
    case Opt::why:
    case Opt::ns:
    case Opt::require:
    case Opt::enable_provider:
    case Opt::disable_provider:
      return of(providers::builtin_namespaces());
    case Opt::gpu_policy:
      return of({"all", "any", "first", "device="});
    case Opt::index_strategy:
      return of({"first-index", "unsafe-first-match", "unsafe-best-match"});
    case Opt::keyring_provider:
      return of({"disabled", "subprocess"});
    case Opt::progress:
      return of({"auto", "on", "off", "json"});
    case Opt::attestations:
      return of({"require", "warn", "off"});
    case Opt::prerelease:
      return of({"allow", "disallow", "if-necessary", "explicit", "if-necessary-or-explicit"});
    case Opt::torch_backend:
      return of({"auto", "cpu", "xpu"});
    case Opt::implementation:
      return of({"cp", "pp", "py"});
    case Opt::python_platform:
      return of({"linux", "x86_64-manylinux_2_28", "aarch64-unknown-linux-gnu"});
    case Opt::link_mode:
      return of({"hardlink", "reflink", "copy", "symlink"});
    case Opt::list_format:
      return of({"columns", "freeze", "json"});
    case Opt::language:
      return of({"c++", "python"});
    case Opt::no_binary:
    case Opt::only_binary:
      return of({":all:", ":none:"});
    default:
      return {kind_of(session::option_row(id).value)};
  }
}

Proposals proposals_for(const Command& command) {
  if (command.name == "completion") return {Proposal::words, {"bash", "zsh", "fish"}};
  if (command.name == "uninstall" || command.name == "show") return {Proposal::installed};
  if (command.name == "man") {
    std::vector<std::string> names;
    for (const Command* one : commands_in("")) names.emplace_back(one->name);
    return {Proposal::words, std::move(names)};
  }
  if (command.positional == "NS") return {Proposal::words, providers::builtin_namespaces()};
  if (command.positional.contains("PATH") || command.positional.contains("FILE"))
    return {Proposal::files};
  return {kind_of(command.positional)};
}

std::vector<session::Opt> shown_options(const Command& command) {
  std::vector<session::Opt> shown;
  const auto add = [&](session::Opt id) {
    if (!session::option_row(id).help.empty()) shown.push_back(id);
  };
  std::ranges::for_each(command.options, add);
  // A group takes none; without a name it is the program, which does.
  if (!command.is_group() || command.name.empty()) {
    for (const session::Opt id : session::global_options())
      if (command.has_global(id)) add(id);
  }
  return shown;
}

std::vector<const Command*> commands_in(std::string_view group) {
  std::vector<const Command*> found;
  for (const Command& command : commands()) {
    const std::size_t space = command.name.find(' ');
    const bool inside = space != std::string_view::npos;
    if (inside ? command.name.substr(0, space) == group : group.empty()) found.push_back(&command);
  }
  return found;
}

std::string last_word(std::string_view name) {
  return std::string(name.substr(name.rfind(' ') + 1));
}

}  // namespace axle::cli
