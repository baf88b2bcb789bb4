#include "cli/views/manual_page.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/shells/words.h"
#include "machines/overrides.h"
#include "session/variables.h"
#include "session/version.h"

namespace axle::cli {

namespace {

/// Text of a page: what roff would read as its own is escaped, and hyphens stay what a user types.
std::string roff(std::string_view text) {
  std::string escaped;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
    at_start = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string manual_title(std::string_view command, std::string_view summary) {
  const std::string name = manual_name(command);
  std::string upper = name;
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return fmt::format(".TH {} 1 \"\" \"variant {}\" \"Axle\"\n.SH NAME\n{} \\- {}\n", roff(upper),
                     session::version, roff(name), roff(summary));
}

std::string option_entry(session::Opt id) {
  const session::OptionRow& row = session::option_row(id);
  std::string names;
  for (const std::string_view name : session::option_names(id))
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
  if (row.kind != session::OptionKind::flag) names += fmt::format(" \\fI{}\\fR", roff(row.value));
  return fmt::format(".TP\n{}\n{}.\n", names, roff(row.help));
}

std::string manual_entry(std::string_view name, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}.\n", roff(name), roff(text));
}

std::string commands_section(std::string_view group) {
  std::string text = ".SH COMMANDS\n";
  for (const Command* command : commands_in(group)) {
    text += manual_entry(
        command->name, fmt::format("{}; see {}(1)", command->summary, manual_name(command->name)));
  }
  return text;
}

constexpr std::string_view exit_codes =
    ".SH EXIT STATUS\n"
    ".TP\n\\fB0\\fR\nSuccess.\n"
    ".TP\n\\fB1\\fR\nFailure, including conflicts.\n"
    ".TP\n\\fB2\\fR\nUsage error, or a settings file, a project or a lock that is not valid or not "
    "there.\n"
    ".TP\n\\fB3\\fR\nNothing fits the machine.\n"
    ".TP\n\\fB4\\fR\nA file is not up to date.\n";

}  // namespace

std::string manual_name(std::string_view command) {
  std::string name = "variant";
  if (!command.empty()) name += "-" + std::string(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string program_manual() {
  std::string text =
      manual_title("", "detect a machine and install the wheel variants that fit it best");
  text +=
      ".SH SYNOPSIS\n\\fBvariant\\fR [\\fIoption\\fR ...] \\fIcommand\\fR [\\fIargument\\fR ...]\n"
      ".br\n\\fBvariant\\-install\\fR [\\fIargument\\fR ...]\n"
      ".SH DESCRIPTION\n"
      "A wheel variant is one of several builds of a release of a Python package, each for\n"
      "machines with certain properties. \\fBvariant\\fR detects what a machine is, chooses\n"
      "the build of a package that fits it best, says why, and installs it completely or\n"
      "not at all. \\fBvariant\\-install\\fR is \\fBvariant install\\fR.\n";
  text += commands_section("");
  text += ".SH OPTIONS\nThey may stand before the command and after it.\n";
  for (const session::Opt id : session::global_options()) text += option_entry(id);
  text += manual_entry("--help", "Show the help of the program or of a command");
  text += manual_entry("--version", "Show the version");
  text += exit_codes;
  text += ".SH ENVIRONMENT\n";
  for (const session::VariableRow& row : session::variables)
    text += manual_entry(row.name, row.meaning);
  for (const machines::OverrideVariable& row : machines::override_variables())
    text += manual_entry(row.name, row.meaning);
  return text;
}

std::string command_manual(const Command& command) {
  std::string text = manual_title(command.name, command.summary);
  std::string synopsis = fmt::format("\\fBvariant {}\\fR", roff(command.name));
  if (command.is_group()) {
    text += ".SH SYNOPSIS\n" + synopsis + " \\fIcommand\\fR [\\fIargument\\fR ...]\n";
    return text + commands_section(command.name) + ".SH SEE ALSO\n\\fBvariant\\fR(1)\n";
  }
  synopsis += " [\\fIoption\\fR ...]";
  const std::string positional = "\\fI" + roff(command.positional) + "\\fR";
  if (command.arity == Arity::one) synopsis += " " + positional;
  if (command.arity == Arity::any) synopsis += " [" + positional + " ...]";
  text += ".SH SYNOPSIS\n" + synopsis + "\n.SH OPTIONS\n";
  for (const session::Opt id : shown_options(command)) text += option_entry(id);
  text += manual_entry("--help", "Show the help");
  text += fmt::format(".SH EXAMPLES\n.EX\n{}\n.EE\n", roff(command.examples));
  text += exit_codes;
  return text + ".SH SEE ALSO\n\\fBvariant\\fR(1)\n";
}

}  // namespace axle::cli
