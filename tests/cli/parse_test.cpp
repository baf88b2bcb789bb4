#include "cli/parse.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cli/command.h"

using axle::cli::parse_command_line;
using axle::cli::Parsed;
using axle::session::Opt;

TEST_CASE("options may stand before and after the positionals") {
  const Parsed parsed = parse_command_line(
      {"install", "--pre", "demo", "-i", "file:///simple", "other>=2", "--json"});
  REQUIRE(parsed.command != nullptr);
  CHECK(parsed.command->name == "install");
  CHECK(parsed.arguments.positionals == std::vector<std::string>{"demo", "other>=2"});
  CHECK(parsed.arguments.value(axle::session::Opt::index_url) == "file:///simple");
  CHECK(parsed.arguments.has(axle::session::Opt::pre));
  CHECK(parsed.arguments.has(axle::session::Opt::json));
  CHECK_FALSE(parsed.arguments.has(axle::session::Opt::upgrade));
}

TEST_CASE("an option given again: lists grow, single values take the last") {
  const Parsed parsed =
      parse_command_line({"install", "demo", "--extra-index-url", "a", "--extra-index-url", "b",
                          "-i", "first", "--index-url", "second"});
  CHECK(parsed.arguments.values(axle::session::Opt::extra_index_url) ==
        std::vector<std::string>{"a", "b"});
  CHECK(parsed.arguments.value(axle::session::Opt::index_url) == "second");
}

TEST_CASE("--no-variants takes a package only behind an equals sign") {
  const Parsed all = parse_command_line({"install", "--no-variants", "demo"});
  CHECK(all.arguments.has(axle::session::Opt::no_variants));
  CHECK(all.arguments.positionals == std::vector<std::string>{"demo"});
  const Parsed one = parse_command_line({"install", "--no-variants=demo", "demo"});
  CHECK_FALSE(one.arguments.has(axle::session::Opt::no_variants));
  CHECK(one.arguments.values(axle::session::Opt::no_variants_of) ==
        std::vector<std::string>{"demo"});
}

TEST_CASE("a list option takes one value each time, the next word is a package") {
  const Parsed parsed =
      parse_command_line({"install", "-f", "wheels", "demo", "--for", "h100", "other"});
  CHECK(parsed.arguments.values(axle::session::Opt::find_links) ==
        std::vector<std::string>{"wheels"});
  CHECK(parsed.arguments.values(axle::session::Opt::for_machine) ==
        std::vector<std::string>{"h100"});
  CHECK(parsed.arguments.positionals == std::vector<std::string>{"demo", "other"});
}

TEST_CASE("nested commands are found by their two words") {
  const Parsed parsed = parse_command_line({"index", "build", "dist", "--out", "public"});
  REQUIRE(parsed.command != nullptr);
  CHECK(parsed.command->name == "index build");
  CHECK(parsed.arguments.value(axle::session::Opt::out) == "public");
}

TEST_CASE("help is what --help prints, as in pip and uv") {
  const std::vector<std::vector<std::string>> commands = {
      {}, {"install"}, {"index"}, {"index", "build"}};
  for (const std::vector<std::string>& command : commands) {
    std::vector<std::string> asked = {"help"};
    asked.insert(asked.end(), command.begin(), command.end());
    std::vector<std::string> option = command;
    option.emplace_back("--help");
    const Parsed help = parse_command_line(asked);
    CHECK(help.command == nullptr);
    CHECK(!help.usage_error);
    CHECK(help.text == parse_command_line(option).text);
  }
  const Parsed unknown = parse_command_line({"help", "instal"});
  CHECK(unknown.usage_error);
  CHECK(unknown.text == "there is no command `instal`");
}

TEST_CASE("usage errors say where help is, and never name a command") {
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"instal"},
                                                {"install", "--no-such-option"},
                                                {"explain"},
                                                {"index"},
                                                {"rank"},
                                                {"detect", "extra"}}) {
    const Parsed parsed = parse_command_line(words);
    CHECK(parsed.usage_error);
    CHECK(parsed.command == nullptr);
    CHECK_FALSE(parsed.text.empty());
    CHECK(parsed.hint.find("--help") != std::string::npos);
  }
}

TEST_CASE("help and version are answers, not errors") {
  CHECK_FALSE(parse_command_line({"--help"}).usage_error);
  CHECK(parse_command_line({"--help"}).text.find("install") != std::string::npos);
  CHECK(parse_command_line({"--version"}).text.starts_with("variant "));
  CHECK(parse_command_line({"install", "--help"}).text.find("--index-url") != std::string::npos);
}

TEST_CASE(
    "options of pip and uv that have nothing to change are accepted, with or without a value") {
  const axle::cli::Parsed parsed = parse_command_line(
      {"install", "--no-input", "--progress-bar", "off", "--disable-pip-version-check",
       "--root-user-action=ignore", "--prefer-binary", "demo", "--use-feature", "fast-deps",
       "--no-compile", "other"});
  CHECK_FALSE(parsed.usage_error);
  CHECK(parsed.arguments.positionals == std::vector<std::string>{"demo", "other"});
}

TEST_CASE("what pip and uv call the same option is the same option") {
  const auto given = [](const std::string& word, bool has_value) {
    std::vector<std::string> words = {"install", word};
    if (has_value) words.emplace_back("x");
    return parse_command_line(words).arguments;
  };
  for (const char* word : {"--no-cache", "-n", "--no-cache-dir"})
    CHECK(given(word, false).has(Opt::no_cache));
  for (const char* word : {"--no-deps", "--no-dependencies"})
    CHECK(given(word, false).has(Opt::no_deps));
  for (const char* word : {"--reinstall", "--force-reinstall"})
    CHECK(given(word, false).has(Opt::reinstall));
  for (const char* word : {"-r", "--requirement", "--requirements"})
    CHECK(given(word, true).value(Opt::requirement) == "x");
  for (const char* word : {"-c", "--constraint", "--constraints"})
    CHECK(given(word, true).value(Opt::constraint) == "x");
  for (const char* word : {"-p", "--python"}) CHECK(given(word, true).value(Opt::python) == "x");
  for (const char* word : {"--timeout", "--default-timeout"})
    CHECK(given(word, true).value(Opt::timeout) == "x");
}

TEST_CASE("every command honours --for, or refuses it with the reason, wherever it stands") {
  for (const axle::cli::Command& command : axle::cli::commands()) {
    if (command.is_group()) continue;
    INFO(command.name);
    const bool honoured = command.machines.refusal.empty();
    CHECK(command.has_global(Opt::for_machine) == honoured);
    CHECK((honoured || !command.machines.several));
    // What is said of a machine's GPUs needs a machine.
    const bool asks_gpus =
        std::ranges::find(command.options, Opt::gpu_policy) != command.options.end();
    // Which GPUs count is asked of this machine there, and of those of the classes.
    const bool of_classes = command.machines.refusal == axle::cli::machine_classes.refusal;
    CHECK((honoured || of_classes || !asks_gpus));
    std::vector<std::string> words;
    std::istringstream names{std::string(command.name)};
    for (std::string word; names >> word;) words.push_back(word);
    std::vector<std::string> help = words;
    help.emplace_back("--help");
    CHECK(parse_command_line(help).text.contains("--for WHAT") == honoured);
    if (command.arity == axle::cli::Arity::one) words.emplace_back("x");
    CHECK_FALSE(parse_command_line(words).usage_error);
    std::vector<std::string> before = {"--for", "h100"};
    before.insert(before.end(), words.begin(), words.end());
    words.insert(words.end(), {"--for", "h100"});
    for (const std::vector<std::string>& line : {words, before}) {
      const Parsed parsed = parse_command_line(line);
      CHECK(parsed.usage_error == !honoured);
      CHECK((parsed.command == nullptr) == !honoured);
      if (honoured) continue;
      CHECK(parsed.text.contains("`variant " + std::string(command.name) + "`"));
      CHECK(parsed.text.contains(command.machines.refusal));
      CHECK_FALSE(parsed.hint.empty());
    }
  }
}
