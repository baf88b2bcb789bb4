// completion and man: what shells and man(1) know of the commands.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/shells/words.h"
#include "cli/views/manual_page.h"
#include "foundation/system/whole_file.h"
#include "foundation/text/nearest.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

struct Shell {
  std::string_view name;
  std::string (*script)();
};
constexpr Shell shells[] = {
    {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

}  // namespace

int run_completion(session::Session& session, Output& output) {
  const std::string& asked = session.arguments().positionals.front();
  const auto shell = std::ranges::find(shells, asked, &Shell::name);
  if (shell == std::end(shells)) {
    std::vector<std::string> known;
    for (const Shell& one : shells) known.emplace_back(one.name);
    return output.failure(
        session::misused(
            fmt::format("there is no completion for `{}`", asked),
            text::suggest(asked, known, fmt::format("it is there for {}", fmt::join(known, ", "))))
            .error());
  }
  return output.answer({.text = [&] { return shell->script(); },
                        .json = [&]() -> ordered_json {
                          return {{"shell", shell->name}, {"script", shell->script()}};
                        }});
}

namespace {

/// The command that the words name; nullptr: there is none.
const Command* command_named(const std::vector<std::string>& words) {
  const std::string name = fmt::format("{}", fmt::join(words, " "));
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

struct Page {
  std::string name;
  std::string text;
};

/// Of one command; of the program, `all` with those of all commands.
std::vector<Page> pages_of(const Command* asked, bool all) {
  std::vector<Page> pages;
  if (asked == nullptr) pages.push_back({manual_name(""), program_manual()});
  for (const Command& command : commands()) {
    if (asked == nullptr ? all : asked == &command)
      pages.push_back({manual_name(command.name), command_manual(command)});
  }
  return pages;
}

Result<void> write_pages(const std::vector<Page>& pages, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorKind::io, fmt::format("cannot create {}: {}", folder, error.message()));
  for (const Page& page : pages) {
    const std::string path = folder + "/" + page.name + ".1";
    error = system::write_whole_file(path, page.text, {.flush = system::Flush::no});
    if (error)
      return fail(ErrorKind::io, fmt::format("cannot write {}: {}", path, error.message()));
  }
  return {};
}

}  // namespace

int run_man(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const Command* command = nullptr;
  if (!arguments.positionals.empty()) {
    command = command_named(arguments.positionals);
    if (command == nullptr) {
      std::vector<std::string> known;
      for (const Command& one : commands()) known.emplace_back(one.name);
      const std::string asked = fmt::format("{}", fmt::join(arguments.positionals, " "));
      return output.failure(
          session::misused(fmt::format("there is no command `{}`", asked),
                           text::suggest(asked, known, "`variant --help` lists the commands"))
              .error());
    }
  }
  const std::vector<Page> pages = pages_of(command, arguments.has(session::Opt::out));
  const std::string folder = arguments.value(session::Opt::out);
  if (!folder.empty()) {
    if (const auto written = write_pages(pages, folder); !written)
      return output.failure(session::failed(written.error()).error());
  }
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const Page& page : pages)
                                text += folder.empty()
                                            ? page.text
                                            : fmt::format("{}/{}.1\n", folder, page.name);
                              return text;
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json rows = ordered_json::array();
                          for (const Page& page : pages)
                            rows.push_back({{"name", page.name}, {"page", page.text}});
                          return {{"pages", std::move(rows)}};
                        }});
}

}  // namespace axle::cli
