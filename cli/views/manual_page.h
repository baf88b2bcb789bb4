#pragma once
// Manual pages, from the tables that --help is made of.

#include <string>
#include <string_view>

#include "cli/command.h"

namespace axle::cli {

/// "variant-index-build": the name of a command's page. "" is the program.
[[nodiscard]] std::string manual_name(std::string_view command);

/// The page of the program, in the macros of man(7).
[[nodiscard]] std::string program_manual();
/// The page of one command, or of a group.
[[nodiscard]] std::string command_manual(const Command& command);

}  // namespace axle::cli
