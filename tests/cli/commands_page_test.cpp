// docs/commands.md is what --help prints. AXLE_UPDATE_GOLDEN=1 rewrites it.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cli/command.h"
#include "cli/parse.h"
#include "machines/overrides.h"
#include "session/variables.h"

namespace {

using axle::cli::parse_command_line;
using axle::session::Opt;

constexpr const char* preamble = R"(# Commands

The output of `--help` for every command; a test keeps this page identical.

stdout has the result, stderr everything else. With `--json` stdout is one object: `schema_version`, then the keys of the
command, or `error: {kind, message, hint}`. `variant` in JSON is the label of a variant, null for a plain wheel.

Exit codes: 0 success, 1 failure (including conflicts), 2 usage error, or a settings file, a project or a lock that is not
valid or not there, 3 nothing fits the machine, 4 a file is not up to date. If a change was made and only stdout could not be
written, the exit code is 1 and stderr says so. If nothing was changed and stdout is a closed pipe (`| head`), the program ends silently by SIGPIPE (141 in a shell).

`--progress json` makes stderr a stream of events: [progress.md](progress.md).

)";

std::vector<std::string> words(std::string_view name) {
  std::istringstream stream{std::string(name)};
  return {std::istream_iterator<std::string>(stream), {}};
}

/// "- `--no-input`, `--no-clean`: `variant install`, `variant list`"
std::string without_effect(Opt id) {
  std::string names(axle::session::option_row(id).names);
  std::string line;
  for (std::istringstream rest(names); std::getline(rest, names, ',');)
    line += (line.empty() ? "- `" : ", `") + names + "`";
  std::string places;
  for (const axle::cli::Command& command : axle::cli::commands()) {
    if (std::ranges::find(command.options, id) == command.options.end()) continue;
    places += (places.empty() ? " `variant " : ", `variant ") + std::string(command.name) + "`";
  }
  return line + ":" + places + "\n";
}

std::string page() {
  std::string text = preamble;
  text += "```\n" + parse_command_line({"--help"}).text + "```\n";
  for (const axle::cli::Command& command : axle::cli::commands()) {
    std::vector<std::string> line = words(command.name);
    line.emplace_back("--help");
    text += "\n## variant " + std::string(command.name) + "\n\n```\n" +
            parse_command_line(line).text + "```\n";
  }
  text +=
      "\n## Options without effect\n\nAccepted where pip and uv have them, because what they ask "
      "for is "
      "always so, or nothing is there that they could change:\n\n";
  for (const Opt id : {Opt::without_effect, Opt::without_effect_value}) text += without_effect(id);
  text += "\n## Environment variables\n\n| variable | meaning |\n|---|---|\n";
  for (const axle::machines::OverrideVariable& row : axle::machines::override_variables())
    text += "| `" + std::string(row.name) + "` | " + std::string(row.meaning) + " |\n";
  for (const axle::session::VariableRow& row : axle::session::variables) {
    text += "| `" + std::string(row.name) + "` | " + std::string(row.meaning) + " |\n";
  }
  return text;
}

}  // namespace

TEST_CASE("docs/commands.md equals what --help prints") {
  const std::string path = AXLE_SOURCE_DIR "/docs/commands.md";
  if (std::getenv("AXLE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << page();
  std::ifstream file(path, std::ios::binary);
  const std::string committed(std::istreambuf_iterator<char>(file), {});
  CHECK_MESSAGE(committed == page(),
                "run AXLE_UPDATE_GOLDEN=1 build/release/bin/cli_test and read the difference");
}

TEST_CASE("a group is a row before its commands, and its help is made of their rows") {
  std::string group;
  std::size_t commands = 0;
  for (const axle::cli::Command& command : axle::cli::commands()) {
    INFO(command.name);
    CHECK_FALSE(command.summary.empty());
    if (command.is_group()) {
      group = command.name;
      CHECK(command.options.empty());
      CHECK_FALSE(command.name.contains(' '));
    } else if (const std::size_t space = command.name.find(' '); space != std::string::npos) {
      CHECK(command.name.substr(0, space) == group);
      const std::string help = parse_command_line({group, "--help"}).text;
      CHECK(help.contains("Usage: variant " + group));
      CHECK(help.contains("  " + std::string(command.name.substr(space + 1)) + " "));
      CHECK(help.contains(command.summary));
      ++commands;
    }
  }
  CHECK(commands > 0);
}

TEST_CASE("every command has an example that parses and ends at its own row") {
  for (const axle::cli::Command& command : axle::cli::commands()) {
    if (command.is_group()) continue;
    INFO(command.name);
    CHECK(command.examples.starts_with("variant "));
    std::string example(command.examples.substr(0, command.examples.find('\n')));
    example = example.substr(0, example.find("   "));
    example = example.substr(0, example.find(" > "));
    std::vector<std::string> line = words(example);
    line.erase(line.begin());
    const axle::cli::Parsed parsed = parse_command_line(line);
    CHECK_FALSE(parsed.usage_error);
    REQUIRE(parsed.command != nullptr);
    CHECK(parsed.command->name == command.name);
  }
}
