// Completion for zsh: one function a command, with its options as `_arguments` takes them.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shells/words.h"

namespace axle::cli {

namespace {

/// Within single quotes; `special`: what `_arguments` would read as its own.
std::string zsh_text(std::string_view text, std::string_view special) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      if (special.contains(c)) quoted += '\\';
      quoted += c;
    }
  }
  return quoted;
}

std::string zsh_action(const Proposals& proposals) {
  switch (proposals.kind) {
    case Proposal::nothing:
      return " ";  // something, of which nothing is known
    case Proposal::words:
      return "(" + zsh_text(fmt::format("{}", fmt::join(proposals.words, " ")), ":\\") + ")";
    case Proposal::files:
      return "_files";
    case Proposal::folders:
      return "_files -/";
    case Proposal::installed:
      return "__variant_installed";
    case Proposal::machines:
      return "__variant_machines";
  }
  return {};
}

/// "_variant_index_build"
std::string zsh_function(std::string_view command) {
  std::string name = "_variant_" + std::string(command);
  std::ranges::replace(name, ' ', '_');
  return name;
}

/// The specifications of one option, one a spelling; a list may be given again.
void add_option_specs(session::Opt id, std::vector<std::string>& specs) {
  const session::OptionRow& row = session::option_row(id);
  const std::vector<std::string_view> names = session::option_names(id);
  const std::string before = row.kind == session::OptionKind::list
                                 ? std::string("*")
                                 : fmt::format("({})", fmt::join(names, " "));
  for (const std::string_view name : names) {
    std::string spec = before + std::string(name);
    if (row.kind != session::OptionKind::flag) spec += name.starts_with("--") ? "=" : "+";
    spec += "[" + zsh_text(row.help, "[]:\\") + "]";
    if (row.kind != session::OptionKind::flag)
      spec += ":" + zsh_text(row.value, ":\\") + ":" + zsh_action(proposals_for(id));
    specs.push_back("'" + spec + "'");
  }
}

std::string call_of_arguments(std::string_view flags, const std::vector<std::string>& specs) {
  return fmt::format("  _arguments {} : \\\n    {}\n", flags, fmt::join(specs, " \\\n    "));
}

std::string command_function(const Command& command) {
  std::vector<std::string> specs = {"'(- *)'{-h,--help}'[Show the help]'"};
  for (const session::Opt id : shown_options(command)) add_option_specs(id, specs);
  if (command.arity != Arity::none) {
    specs.push_back(fmt::format("'{}:{}:{}'", command.arity == Arity::one ? "1" : "*",
                                zsh_text(command.positional, ":\\"),
                                zsh_action(proposals_for(command))));
  }
  return fmt::format("{}() {{\n{}}}\n\n", zsh_function(command.name),
                     call_of_arguments("-s -S", specs));
}

/// A function for the commands of a group, or ("") for the program.
std::string group_function(std::string_view name, std::string_view function) {
  std::vector<std::string> specs = {"'(- *)'{-h,--help}'[Show the help]'"};
  if (name.empty()) {
    specs.push_back("'(- *)--version[Show the version]'");
    for (const session::Opt id : session::global_options()) add_option_specs(id, specs);
  }
  specs.push_back("'1:command:->command'");
  specs.push_back("'*::argument:->argument'");
  std::string text = fmt::format("{}() {{\n  local curcontext=$curcontext state line\n", function);
  text += "  local -a commands=(\n";
  std::string calls;
  for (const Command* command : commands_in(name)) {
    const std::string word = last_word(command->name);
    text += fmt::format("    '{}:{}'\n", word, zsh_text(command->summary, ":\\"));
    calls += fmt::format("        {}) {} ;;\n", word, zsh_function(command->name));
  }
  text += "  )\n" + call_of_arguments("-C -S", specs);
  return text + "  case $state in\n    command) _describe -t commands command commands ;;\n" +
         "    argument)\n      case $line[1] in\n" + calls + "      esac ;;\n  esac\n}\n\n";
}

constexpr std::string_view zsh_head = R"sh(#compdef variant variant-install
# Completion of variant for zsh: this file as _variant in a folder of $fpath, or, after compinit,
# eval "$(variant completion zsh)"

__variant_installed() {
  local -a names=(${(f)"$(variant freeze 2>/dev/null)"})
  compadd "$@" - ${names%%[ =@]*}
}

)sh";

constexpr std::string_view zsh_end = R"sh(_variant() {
  if [[ ${service:-$words[1]:t} == variant-install ]]; then
    _variant_install
  else
    _variant_program
  fi
}

# As a file of $fpath this is the body of _variant, which is called for a completion.
if [[ $funcstack[1] == _variant ]]; then
  _variant "$@"
else
  compdef _variant variant variant-install
fi
)sh";

}  // namespace

std::string zsh_completion() {
  std::string text(zsh_head);
  text += fmt::format("__variant_machines() {{\n  compadd \"$@\" - {}\n}}\n\n",
                      fmt::join(proposals_for(session::Opt::for_machine).words, " "));
  for (const Command& command : commands()) {
    text += command.is_group() ? group_function(command.name, zsh_function(command.name))
                               : command_function(command);
  }
  return text + group_function("", "_variant_program") + std::string(zsh_end);
}

}  // namespace axle::cli
