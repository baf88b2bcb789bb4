#include "cli/parse.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/shells/words.h"
#include "foundation/text/nearest.h"
#include "session/settings/setting_table.h"
#include "session/version.h"

namespace axle::cli {

namespace {

/// Where CLI11 stores values while it parses one command.
struct Slots {
  std::map<session::Opt, bool> flags;
  std::map<session::Opt, std::optional<std::string>> values;
  std::map<session::Opt, std::vector<std::string>> lists;
  std::map<const CLI::Option*, session::Opt> list_ids;  ///< which of `lists` an option fills
  std::vector<std::string> positionals;
};

void add_option(CLI::App& app, session::Opt id, bool shown, Slots& slots) {
  const session::OptionRow& row = session::option_row(id);
  const std::string names(row.names);
  const std::string help(row.help);
  CLI::Option* option = nullptr;
  switch (row.kind) {
    case session::OptionKind::flag:
      option = app.add_flag(names, slots.flags[id], help);
      break;
    case session::OptionKind::value:
      option = app.add_option(names, slots.values[id], help)->take_last();
      break;
    case session::OptionKind::list:
      // One value each time: a second word is a positional.
      option = app.add_option(names, slots.lists[id], help)->take_all()->expected(1);
      option->allow_extra_args(false);
      slots.list_ids.emplace(option, id);
      break;
  }
  if (row.kind != session::OptionKind::flag) option->type_name(std::string(row.value));
  if (!shown || row.help.empty()) option->group("");
}

/// "--no-variants=PKG" and "--build=PKG" are the options with an optional value; it is only
/// accepted after "=", so that "--no-variants PKG" still installs PKG.
std::vector<std::string> split_optional_values(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals);
    if (equals < word.size() && (name == "--no-variants" || name == "--build")) {
      out.push_back(name + "-of");
      out.push_back(word.substr(equals + 1));
    } else {
      out.push_back(word);
    }
  }
  return out;
}

std::string indent(std::string_view lines) {
  std::string out = "Examples:\n  ";
  for (const char c : lines) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

/// The commands of groups whose last word is `word`, in backticks; empty: there is none.
std::string commands_called(std::string_view word) {
  std::string names;
  for (const Command& command : commands()) {
    if (!command.name.contains(' ') || last_word(command.name) != word) continue;
    names += (names.empty() ? "`variant " : " or `variant ") + std::string(command.name) + "`";
  }
  return names;
}

/// Whether one of `words` is an option `id`, or may be: a word of one dash is any that is so short.
bool may_be_among(const std::vector<std::string>& words, session::Opt id) {
  const std::vector<std::string_view> names = session::option_names(id);
  return std::ranges::any_of(words, [&](const std::string& word) {
    if (!word.starts_with('-')) return false;
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    return std::ranges::any_of(names, [&](std::string_view one) {
      return one == name || (!word.starts_with("--") && !one.starts_with("--"));
    });
  });
}

/// Which commands and options there are. Building all of them takes longer than some commands do.
enum class Offered : std::uint8_t {
  named,  ///< that the words may refer to
  all,    ///< help, and messages about what is not right, tell them
};

class Tree {
 public:
  /// Only the commands that `words` may refer to get options: the others are a name and a summary,
  /// if they are offered at all.
  Tree(const std::vector<std::string>& words, Offered offered)
      : app_("Axle detects what a machine is and installs the wheel variants that fit it best.",
             "variant"),
        offered_(offered) {
    app_.require_subcommand(1);
    app_.set_version_flag("--version,-V", "variant " + std::string(session::version));
    app_.get_formatter()->column_width(34);
    app_.footer(
        "`variant COMMAND --help` has details. Exit codes: 0 success, 1 failure, 2 usage error, 3 "
        "nothing fits the machine, 4 a file is not up to date.");
    for (const session::Opt id : session::global_options())
      offer(app_, id, true, before_command_, words);
    for (const Command& command : commands()) add(command, words);
  }

  Parsed parse(std::vector<std::string> words) {
    Parsed parsed;
    const std::vector<std::string> rest = take_rest(words);
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 takes them
    try {
      app_.parse(std::move(reversed));
    } catch (const CLI::CallForHelp&) {
      const CLI::App* asked = deepest(&app_);
      parsed.text = asked->help(asked->get_parent() == nullptr ? "" : name_of(asked->get_parent()));
      return parsed;
    } catch (const CLI::CallForVersion& call) {
      parsed.text = std::string(call.what()) + "\n";
      return parsed;
    } catch (const CLI::ParseError& error) {
      parsed.usage_error = true;
      collect(parsed);
      parsed.command = nullptr;
      if (explain_missing_command(words, parsed)) return parsed;
      parsed.text = error.what();
      parsed.hint = hint_for(words);
      return parsed;
    }
    collect(parsed);
    refuse_machine(parsed);
    if (rest.empty()) return parsed;
    // The words of another program, and a "--" among them is its own.
    std::vector<std::string>& own = parsed.arguments.positionals;
    own.insert(own.end(), rest.begin() + (own.empty() ? 1 : 0), rest.end());
    return parsed;
  }

 private:
  /// Of a command that starts another program: removes from `words` what begins with "--".
  [[nodiscard]] static std::vector<std::string> take_rest(std::vector<std::string>& words) {
    const auto is_such = [&](const std::string& word) {
      return std::ranges::any_of(commands(), [&](const Command& command) {
        return command.arity == Arity::command && command.name == word;
      });
    };
    const auto first =
        std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with('-'); });
    if (first == words.end() || !is_such(*first)) return {};
    const auto mark = std::ranges::find(words, "--");
    std::vector<std::string> rest(mark, words.end());
    words.erase(mark, words.end());
    return rest;
  }

  /// --for where a command has no use for it, wherever in the command line it stands.
  static void refuse_machine(Parsed& parsed) {
    if (parsed.command == nullptr || parsed.command->has_global(session::Opt::for_machine) ||
        !parsed.arguments.has(session::Opt::for_machine))
      return;
    const MachineUse& machines = parsed.command->machines;
    parsed.text = fmt::format("`variant {}`: --for is not supported here: {}", parsed.command->name,
                              machines.refusal);
    parsed.hint = machines.instead;
    parsed.usage_error = true;
    parsed.command = nullptr;
  }

  void add(const Command& command, const std::vector<std::string>& words) {
    const std::string name = last_word(command.name);
    const std::string_view group = command.name.substr(0, command.name.size() - name.size());
    const bool is_named = std::ranges::find(words, name) != words.end();
    if (offered_ == Offered::named && (!is_named || !is_offered(group))) return;
    CLI::App* parent = group.empty() ? &app_ : groups_.at(group.substr(0, group.size() - 1));
    CLI::App* sub = parent->add_subcommand(name, std::string(command.summary));
    if (command.is_group()) {
      sub->require_subcommand(1);
      groups_.emplace(command.name, sub);
      return;
    }
    if (!is_named) return;
    sub->get_formatter()->column_width(34);
    sub->footer(indent(command.examples));
    auto slots = std::make_unique<Slots>();
    if (command.arity == Arity::command) {
      sub->prefix_command(true);
    } else if (command.arity != Arity::none) {
      CLI::Option* option =
          sub->add_option(std::string(command.positional), slots->positionals)->type_name("");
      if (command.arity == Arity::one) option->required()->expected(1);
    }
    for (const session::Opt id : command.options) offer(*sub, id, true, *slots, words);
    // One that is refused is understood, so that the reason can be said.
    for (const session::Opt id : session::global_options())
      offer(*sub, id, command.has_global(id), *slots, words);
    nodes_.push_back({&command, sub, std::move(slots)});
  }

  void offer(CLI::App& app, session::Opt id, bool shown, Slots& slots,
             const std::vector<std::string>& words) {
    if (offered_ == Offered::all || may_be_among(words, id)) add_option(app, id, shown, slots);
  }

  /// `group`: a name and a blank; empty: the program itself.
  [[nodiscard]] bool is_offered(std::string_view group) const {
    return group.empty() || groups_.contains(group.substr(0, group.size() - 1));
  }

  [[nodiscard]] bool is_group(const CLI::App* app) const {
    return std::ranges::any_of(groups_, [&](const auto& group) { return group.second == app; });
  }

  /// Options of pip and uv that Axle does not support: what to do instead.
  [[nodiscard]] std::string hint_for(const std::vector<std::string>& words) {
    const CLI::App* command = deepest(&app_);
    for (const std::string& word : words) {
      if (word == "--") break;
      const std::string option = word.substr(0, word.find('='));
      if (!option.starts_with("--") || command->get_option_no_throw(option) != nullptr) continue;
      const session::SettingRow* row = session::find_option_setting(option.substr(2));
      if (row == nullptr || row->treatment == session::Treatment::honoured)
        return hint_for_unknown(option, *command);
      if (row->treatment == session::Treatment::refused_for_builds)
        return option + ": Axle builds with the settings of pip or uv that its help names";
      if (row->treatment == session::Treatment::refused)
        return option + ": " + std::string(row->text);
      return option + " has no effect here, remove it: " + std::string(row->text);
    }
    return "see `" + name_of(command) + " --help`";
  }

  /// `option` is none of `app`'s: those that are spelled like it, or the commands that have it.
  [[nodiscard]] static std::string hint_for_unknown(const std::string& option,
                                                    const CLI::App& app) {
    constexpr std::size_t most_commands = 3;
    const std::string help = "see `" + name_of(&app) + " --help`";
    std::vector<std::string> having_it;
    for (const Command& command : commands()) {
      const auto is_asked = [&](session::Opt id) {
        const std::vector<std::string_view> names = session::option_names(id);
        return std::ranges::find(names, option) != names.end();
      };
      if (std::ranges::any_of(command.options, is_asked))
        having_it.push_back("variant " + std::string(command.name));
    }
    if (having_it.size() > most_commands) having_it = {"other commands"};
    if (!having_it.empty())
      return option + " is an option of " + text::joined_by_or(having_it) + "; " + help;
    std::vector<std::string> known;
    for (const CLI::Option* one : app.get_options()) {
      if (one->get_group().empty()) continue;
      for (const std::string& name : one->get_lnames()) known.push_back("--" + name);
    }
    return text::suggest(option, known, help);
  }

  static const session::OptionRow* global_option(std::string_view word) {
    const std::string_view name = word.substr(0, word.find('='));
    for (const session::Opt id : session::global_options()) {
      const std::vector<std::string_view> names = session::option_names(id);
      if (std::ranges::find(names, name) != names.end()) return &session::option_row(id);
    }
    return nullptr;
  }

  static const CLI::App* child_of(const CLI::App& app, const std::string& name) {
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (sub->get_name() == name) return sub;
    }
    return nullptr;
  }

  /// Whether the command in `words` is missing or unknown: an unknown word, a group without one of
  /// its commands, or only options. CLI11 reports whatever comes first.
  bool explain_missing_command(const std::vector<std::string>& words, Parsed& parsed) {
    const CLI::App* at = &app_;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (word.starts_with('-')) {
        const session::OptionRow* option = global_option(word);
        if (option == nullptr) {
          parsed.text =
              "there is no option `" + word.substr(0, word.find('=')) + "` before the command";
          parsed.hint = hint_for(words);
          return true;
        }
        const bool has_value = option->kind != session::OptionKind::flag && !word.contains('=');
        if (has_value && ++i == words.size()) return false;
        continue;
      }
      const CLI::App* found = child_of(*at, word);
      if (found == nullptr) {
        say_unknown(*at, std::span(words).subspan(i), parsed);
        return true;
      }
      if (!is_group(found)) return false;
      at = found;
    }
    parsed.text = "`" + name_of(at) + "` needs a command";
    parsed.hint = list_of_commands(*at);
    return true;
  }

  static std::string list_of_commands(const CLI::App& at) {
    return "`" + name_of(&at) + " --help` lists the commands";
  }

  /// `words` begin with something that is not a command of `at`.
  void say_unknown(const CLI::App& at, std::span<const std::string> words, Parsed& parsed) const {
    const std::string& word = words.front();
    const bool top = at.get_parent() == nullptr;
    parsed.text = "there is no command `" + (top ? word : at.get_name() + " " + word) + "`";
    std::string meant = commands_called(word);
    // The group has another name: `run bench` is `model bench`.
    if (meant.empty() && top && words.size() > 1 && child_of(at, words[1]) == nullptr)
      meant = commands_called(words[1]);
    if (!meant.empty()) {
      parsed.hint = "did you mean " + meant + "? " + list_of_commands(at);
      return;
    }
    std::vector<std::string> known;
    for (const CLI::App* sub : at.get_subcommands([](const CLI::App*) { return true; }))
      known.push_back(sub->get_name());
    std::vector<std::string> likely = text::likely_meant(word, known);
    for (std::string& name : likely) {
      // `provider list` is `providers list`, whatever else begins like it.
      const CLI::App* sub = child_of(at, name);
      const bool whole = words.size() > 1 && is_group(sub) && child_of(*sub, words[1]) != nullptr;
      name = "`" + name_of(sub) + (whole ? " " + words[1] : "") + "`";
    }
    if (!likely.empty()) parsed.hint = "did you mean " + text::joined_by_or(likely) + "? ";
    parsed.hint += list_of_commands(at);
  }

  static CLI::App* deepest(CLI::App* app) {
    for (CLI::App* sub : app->get_subcommands()) return deepest(sub);
    return app;
  }

  static std::string name_of(const CLI::App* app) {
    const CLI::App* parent = app->get_parent();
    return parent == nullptr ? app->get_name() : name_of(parent) + " " + app->get_name();
  }

  void collect(Parsed& parsed) {
    const CLI::App* chosen = deepest(&app_);
    for (const ParsedCommand& node : nodes_) {
      if (node.app != chosen) continue;
      parsed.command = node.command;
      take(before_command_, app_, parsed.arguments);
      take(*node.slots, *node.app, parsed.arguments);
      parsed.arguments.positionals = node.slots->positionals;
      if (node.command->arity == Arity::command)
        parsed.arguments.positionals = node.app->remaining();
    }
  }

  static void take(const Slots& slots, const CLI::App& app, session::Arguments& arguments) {
    for (const auto& [id, set] : slots.flags) {
      if (set) arguments.add(id, "");
    }
    for (const auto& [id, value] : slots.values) {
      if (value) arguments.add(id, *value);
    }
    // Lists in the order given: a later --only-binary overrides --no-binary.
    std::map<session::Opt, std::size_t> taken;
    for (const CLI::Option* option : app.parse_order()) {
      const auto id = slots.list_ids.find(option);
      if (id == slots.list_ids.end()) continue;
      arguments.add(id->second, slots.lists.at(id->second).at(taken[id->second]++));
    }
  }

  struct ParsedCommand {
    const Command* command;
    const CLI::App* app;
    std::unique_ptr<Slots> slots;
  };

  CLI::App app_;
  Offered offered_;
  Slots before_command_;                          ///< `variant --json detect`
  std::map<std::string_view, CLI::App*> groups_;  ///< by the names of their rows
  std::vector<ParsedCommand> nodes_;
};

}  // namespace

Parsed parse_command_line(std::vector<std::string> words) {
  // As in pip and uv: `variant help install` is `variant install --help`.
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    const bool known = words.empty() || std::ranges::any_of(commands(), [&](const Command& one) {
                         return one.name.substr(0, one.name.find(' ')) == words.front();
                       });
    if (known) words.emplace_back("--help");
  }
  words = split_optional_values(words);
  if (Parsed parsed = Tree(words, Offered::named).parse(words); parsed.command != nullptr)
    return parsed;
  return Tree(words, Offered::all).parse(words);
}

}  // namespace axle::cli
