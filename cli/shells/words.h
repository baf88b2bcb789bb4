#pragma once
// What a shell may propose, from the tables that --help is made of.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "session/options.h"

namespace axle::cli {

enum class Proposal : std::uint8_t {
  nothing,  ///< free text
  words,    ///< one of a known set
  files,
  folders,
  installed,  ///< the names of installed packages
  machines,   ///< the names of `variant machines`
};

struct Proposals {
  Proposal kind = Proposal::nothing;
  std::vector<std::string> words = {};  ///< of Proposal::words and Proposal::machines
};

/// For the value of an option; `nothing` for a flag.
[[nodiscard]] Proposals proposals_for(session::Opt id);
/// For the positional arguments of a command.
[[nodiscard]] Proposals proposals_for(const Command& command);

/// Those of the command that --help shows, the global ones last.
[[nodiscard]] std::vector<session::Opt> shown_options(const Command& command);
/// The commands of `group`; of "" the commands and groups that are not in a group.
[[nodiscard]] std::vector<const Command*> commands_in(std::string_view group);
/// "build" of "index build".
[[nodiscard]] std::string last_word(std::string_view name);

/// The scripts, each for one shell.
[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

}  // namespace axle::cli
