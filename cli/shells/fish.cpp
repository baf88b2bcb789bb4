// Completion for fish.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shells/words.h"

namespace axle::cli {

namespace {

std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

/// Without a kind of its own a value is free text: no files are proposed for it.
std::string fish_values(const Proposals& proposals) {
  switch (proposals.kind) {
    case Proposal::nothing:
      return "";
    case Proposal::words:
      return " -a " + fish_quoted(fmt::format("{}", fmt::join(proposals.words, " ")));
    case Proposal::files:
      return " -F";
    case Proposal::folders:
      return " -a '(__fish_complete_directories)'";
    case Proposal::installed:
      return " -a '(__variant_installed)'";
    case Proposal::machines:
      return " -a '(__variant_machines)'";
  }
  return "";
}

/// One `complete`, for when `command` stands on the line.
std::string fish_line(std::string_view command, std::string_view rest) {
  return fmt::format("  complete -c $program -n '__variant_at {}' {}\n",
                     command.empty() ? "\"\"" : "\"" + std::string(command) + "\"", rest);
}

std::string fish_option(std::string_view command, session::Opt id) {
  const session::OptionRow& row = session::option_row(id);
  std::string rest;
  for (const std::string_view name : session::option_names(id))
    rest += name.starts_with("--") ? fmt::format("-l {} ", name.substr(2))
                                   : fmt::format("-s {} ", name.substr(1));
  if (row.kind != session::OptionKind::flag) {
    const Proposals proposals = proposals_for(id);
    rest += proposals.kind == Proposal::files ? "-r" : "-x";
    rest += fish_values(proposals) + " ";
  }
  return fish_line(command, rest + "-d " + fish_quoted(row.help));
}

constexpr std::string_view fish_head =
    R"sh(# Completion of variant for fish: variant completion fish | source

# The command on the line before the cursor: "", "index" or "index build".
function __variant_command
  set -l words (commandline -opc)
  if string match -q '*variant-install' -- $words[1]
    echo install
    return
  end
  set -e words[1]
  set -l found
  set -l is_value 0
  for word in $words
    if test $is_value = 1
      set is_value 0
      continue
    end
    switch $word
      case --for
        set is_value 1
      case '-*'
      case '*'
        set -a found $word
        contains -- "$found" {GROUPS}; or break
    end
  end
  echo "$found"
end

function __variant_at
  test (__variant_command) = "$argv[1]"
end

function __variant_installed
  variant freeze 2>/dev/null | string replace -r '[ =@].*' ''
end

function __variant_machines
  printf '%s\n' {MACHINES}
end

for program in variant variant-install
  complete -c $program -f
)sh";

}  // namespace

std::string fish_completion() {
  std::vector<std::string_view> groups;
  std::string lines;
  const auto add_names = [&](std::string_view group) {
    for (const Command* command : commands_in(group))
      lines += fish_line(group, fmt::format("-a {} -d {}", last_word(command->name),
                                            fish_quoted(command->summary)));
  };
  add_names("");
  for (const session::Opt id : session::global_options()) lines += fish_option("", id);
  lines += fish_line("", "-l version -d 'Show the version'");
  for (const Command& command : commands()) {
    if (command.is_group()) {
      groups.push_back(command.name);
      add_names(command.name);
    }
    for (const session::Opt id : shown_options(command)) lines += fish_option(command.name, id);
    const std::string values = fish_values(proposals_for(command));
    if (!values.empty()) lines += fish_line(command.name, values.substr(1));
  }
  lines += "  complete -c $program -s h -l help -d 'Show the help'\nend\n";
  std::string text(fish_head);
  const auto put = [&](std::string_view place, const std::string& words) {
    text.replace(text.find(place), place.size(), words);
  };
  put("{GROUPS}", fmt::format("{}", fmt::join(groups, " ")));
  put("{MACHINES}",
      fmt::format("{}", fmt::join(proposals_for(session::Opt::for_machine).words, " ")));
  return text + lines;
}

}  // namespace axle::cli
