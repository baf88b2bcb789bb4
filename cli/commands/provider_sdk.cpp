// providers new: the project of a provider, from the SDK that is embedded in the program.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "providers/provider.h"
#include "providers/sdk_files.h"
#include "session/session.h"
#include "wheel/variant/abi_dependency.h"

namespace axle::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// The placeholder in the templates.
constexpr std::string_view placeholder = "acme";

struct Language {
  std::string_view name;
  std::string_view folder;      ///< of its template in the SDK
  bool needs_sdk;               ///< header and CMake package are added
  std::string_view next_steps;  ///< the placeholder in them is replaced too
};

constexpr Language languages[] = {
    {"c++", "templates/cpp/", true,
     "  cmake -B build\n"
     "  cmake --build build\n"
     "  variant providers check build/acme_provider.so\n"},
    {"python", "templates/python/", false,
     "  python3 -m unittest\n"
     "  variant providers check .\n"},
};

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

/// `text` of a template for a provider called `name`.
std::string named(std::string_view text, const std::string& name) {
  std::string upper_name = name;
  std::string upper_placeholder(placeholder);
  for (std::string* word : {&upper_name, &upper_placeholder})
    std::ranges::transform(*word, word->begin(), [](unsigned char c) { return std::toupper(c); });
  return replaced(replaced(std::string(text), placeholder, name), upper_placeholder, upper_name);
}

/// A namespace that is also a valid start of C++ and Python names. nullopt: it is; else why not.
std::optional<std::string> objection_to(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_allowed = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
  };
  if (name.empty() || !is_letter(name.front()) || !std::ranges::all_of(name, is_allowed))
    return "it must consist of a-z, 0-9 and _, and start with a letter";
  if (name == wheel::abi_dependency || providers::find_provider(name) != nullptr)
    return "this namespace is taken (`variant providers list`)";
  return std::nullopt;
}

using Files = std::vector<std::pair<std::string, std::string>>;

Files files_of(const Language& language, const std::string& name) {
  Files files;
  for (const providers::SdkFile& file : providers::sdk_files()) {
    if (file.path.starts_with(language.folder)) {
      const std::string_view path = file.path.substr(language.folder.size());
      files.emplace_back(named(path, name), named(file.text, name));
    } else if (language.needs_sdk && !file.path.starts_with("templates/")) {
      files.emplace_back("sdk/" + std::string(file.path), file.text);
    }
  }
  return files;
}

session::Outcome<void> write_files(const fs::path& folder, const Files& files) {
  for (const auto& [path, text] : files) {
    std::error_code error;
    const fs::path target = folder / path;
    fs::create_directories(target.parent_path(), error);
    std::ofstream file(target, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
      return session::failed({ErrorKind::io, fmt::format("{}: cannot be written", target.string()),
                              "check that the folder exists and is writable"});
    }
  }
  return {};
}

}  // namespace

int run_providers_new(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  if (arguments.positionals.size() != 2) {
    return output.failure(session::misused("two arguments are needed: a namespace and a folder",
                                           "for example `variant providers new acme acme-provider`")
                              .error());
  }
  const std::string& name = arguments.positionals[0];
  const fs::path folder = arguments.positionals[1];
  if (const auto objection = objection_to(name))
    return output.failure(
        session::misused(fmt::format("`{}` cannot be used: {}", name, *objection)).error());
  const std::string asked = arguments.has(session::Opt::language)
                                ? arguments.value(session::Opt::language)
                                : std::string("c++");
  const auto* const language = std::ranges::find(languages, asked, &Language::name);
  if (language == std::end(languages)) {
    return output.failure(
        session::misused(fmt::format("there is no template in `{}`", asked), "c++ or python")
            .error());
  }
  std::error_code error;
  if (fs::exists(folder, error) &&
      !(fs::is_directory(folder, error) && fs::is_empty(folder, error))) {
    return output.failure(
        session::failed({ErrorKind::io,
                         fmt::format("{}: already exists, nothing was written", folder.string()),
                         "name a folder that does not exist or is empty"})
            .error());
  }
  const Files files = files_of(*language, name);
  if (const auto written = write_files(folder, files); !written)
    return output.failure(written.error());
  output.change_was_made();
  return output.answer(
      {.text =
           [&] {
             return fmt::format("{}: {} files. Next, in that folder:\n{}", folder.string(),
                                files.size(), named(language->next_steps, name));
           },
       .json = [&]() -> ordered_json {
         ordered_json paths = ordered_json::array();
         for (const auto& file : files) paths.push_back(file.first);
         return {{"namespace", name}, {"folder", folder.string()}, {"files", paths}};
       }});
}

}  // namespace axle::cli
