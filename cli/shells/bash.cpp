// Completion for bash, without the package bash-completion.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shells/words.h"

namespace axle::cli {

namespace {

/// How `_variant_propose` spells them.
std::string bash_words(const Proposals& proposals) {
  switch (proposals.kind) {
    case Proposal::nothing:
      return "";
    case Proposal::words:
      return fmt::format("{}", fmt::join(proposals.words, " "));
    case Proposal::files:
      return "@files";
    case Proposal::folders:
      return "@folders";
    case Proposal::installed:
      return "@installed";
    case Proposal::machines:
      return "@machines";
  }
  return "";
}

/// What stands before any command: only the global options.
const Command& program_row() {
  static const Command none{"", "", "", Arity::none, {}, "", nullptr, one_machine};
  return none;
}

/// One function that answers for each command: `body` makes its line, empty for none.
template <class Body>
std::string by_command(std::string_view function, Body body) {
  std::string text = fmt::format("{}() {{\n  case $1 in\n", function);
  const auto add = [&](const Command& command) {
    const std::string line = body(command);
    if (!line.empty()) text += fmt::format("    '{}') {} ;;\n", command.name, line);
  };
  add(program_row());
  for (const Command& command : commands()) add(command);
  return text + "  esac\n}\n\n";
}

std::string option_list(const Command& command, bool with_value) {
  std::vector<std::string_view> names;
  for (const session::Opt id : shown_options(command)) {
    if (with_value && session::option_row(id).kind == session::OptionKind::flag) continue;
    for (const std::string_view name : session::option_names(id)) names.push_back(name);
  }
  if (!with_value) names.push_back("--help");
  if (!with_value && command.name.empty()) names.push_back("--version");
  return fmt::format("{}", fmt::join(names, " "));
}

/// The cases of one command's options that have values to propose.
std::string value_cases(const Command& command) {
  std::string text;
  for (const session::Opt id : shown_options(command)) {
    const std::string words = bash_words(proposals_for(id));
    if (words.empty()) continue;
    text +=
        fmt::format("      {}) echo '{}' ;;\n", fmt::join(session::option_names(id), "|"), words);
  }
  return text.empty() ? text : "case $2 in\n" + text + "    esac";
}

constexpr std::string_view bash_head =
    R"sh(# Completion of variant for bash: eval "$(variant completion bash)"

)sh";

constexpr std::string_view bash_end =
    R"sh(# Fills COMPREPLY from what the functions above print: words, or @files, @folders, …
_variant_propose() {
  local -a words
  case $1 in
    @files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2"); return ;;
    @folders) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$2"); return ;;
    @installed) mapfile -t words < <(variant freeze 2>/dev/null | sed 's/[ =@].*//') ;;
    @machines) read -ra words <<<"$(__variant_machines)" ;;
    *) read -ra words <<<"$1" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$2")
}

_variant() {
  local current=${COMP_WORDS[COMP_CWORD]} command='' option='' only_names='' word i
  COMPREPLY=()
  [[ ${COMP_WORDS[0]##*/} != variant-install ]] || command=install
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      only_names=1
    elif [[ $word == -* && -z $only_names ]]; then
      [[ " $(_variant_valued "$command") " == *" $word "* ]] || continue
      # The shell splits --for=h100 into three words.
      [[ ${COMP_WORDS[i + 1]} != = ]] || ((++i))
      ((++i))
      ((i < COMP_CWORD)) || option=$word
    elif [[ " $(_variant_commands "$command") " == *" $word "* ]]; then
      command="${command:+$command }$word"
    fi
  done
  [[ $current != = ]] || current=''
  if [[ -n $option ]]; then
    _variant_propose "$(_variant_values "$command" "$option")" "$current"
  elif [[ $current == -* && -z $only_names ]]; then
    _variant_propose "$(_variant_options "$command")" "$current"
  else
    word=$(_variant_commands "$command")
    _variant_propose "${word:-$(_variant_positionals "$command")}" "$current"
  fi
}

complete -F _variant variant variant-install
)sh";

std::string names_in(std::string_view group) {
  std::vector<std::string> names;
  for (const Command* command : commands_in(group)) names.push_back(last_word(command->name));
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

std::string bash_completion() {
  const auto echo = [](const std::string& words) {
    return words.empty() ? words : "echo '" + words + "'";
  };
  const std::vector<std::string> machines = proposals_for(session::Opt::for_machine).words;
  return std::string(bash_head) +
         fmt::format("__variant_machines() {{\n  echo '{}'\n}}\n\n", fmt::join(machines, " ")) +
         by_command("_variant_commands",
                    [&](const Command& command) {
                      return echo(command.is_group() ? names_in(command.name) : std::string());
                    }) +
         by_command("_variant_options",
                    [&](const Command& command) { return echo(option_list(command, false)); }) +
         by_command("_variant_valued",
                    [&](const Command& command) { return echo(option_list(command, true)); }) +
         by_command("_variant_values", value_cases) +
         by_command(
             "_variant_positionals",
             [&](const Command& command) { return echo(bash_words(proposals_for(command))); }) +
         std::string(bash_end);
}

}  // namespace axle::cli
