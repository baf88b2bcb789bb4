#include "session/other_folders.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "session/variables.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

using installer::Environment;
using installer::FolderScheme;

/// Each asks for another place than the others; --root changes any of them but --target, which is
/// one folder.
constexpr std::array contradictions = {
    std::pair(Opt::user, Opt::target), std::pair(Opt::user, Opt::prefix),
    std::pair(Opt::target, Opt::prefix), std::pair(Opt::target, Opt::root)};

Outcome<std::string> folder_of(const Arguments& arguments, Opt id) {
  const std::string given = arguments.value(id);
  if (given.empty()) return misused(option_name(id) + " has no value", "name a folder");
  std::error_code error;
  const fs::path path = fs::absolute(given, error).lexically_normal();
  if (error) return misused(fmt::format("{} {}: {}", option_name(id), given, error.message()));
  const fs::file_status there = fs::status(path, error);
  if (fs::exists(there) && !fs::is_directory(there))
    return misused(fmt::format("{} {}: it exists and is not a folder", option_name(id), given));
  std::string folder = path.string();
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

void take_scheme(Environment& environment, const std::string& base, const FolderScheme& scheme) {
  environment.data = environment.other_base = base;
  environment.purelib = base + scheme.purelib;
  environment.platlib = base + scheme.platlib;
  environment.scripts = base + scheme.scripts;
  environment.include = base + scheme.include;
}

/// As pip: the folder is purelib and platlib, beside what else a wheel has.
Outcome<void> take_target(Environment& environment, const Arguments& arguments) {
  const auto base = folder_of(arguments, Opt::target);
  if (!base) return std::unexpected(base.error());
  FolderScheme scheme = environment.home_scheme;
  scheme.purelib.clear();
  scheme.platlib.clear();
  take_scheme(environment, *base, scheme);
  return {};
}

Outcome<void> take_prefix(Environment& environment, const Arguments& arguments) {
  const auto base = folder_of(arguments, Opt::prefix);
  if (!base) return std::unexpected(base.error());
  take_scheme(environment, *base, environment.prefix_scheme);
  return {};
}

/// As pip does, by the mark in the environment; one that cannot be read is one without.
bool sees_user(const Environment& environment) {
  if (!environment.virtual_env) return true;
  std::ifstream file(environment.prefix + "/pyvenv.cfg");
  for (std::string line; std::getline(file, line);) {
    const std::string lower = text::ascii_lower(line);
    const std::size_t equals = lower.find('=');
    if (equals == std::string::npos) continue;
    if (text::trim_ascii(std::string_view(lower).substr(0, equals)) ==
        "include-system-site-packages")
      return text::trim_ascii(std::string_view(lower).substr(equals + 1)) == "true";
  }
  return false;
}

Outcome<void> take_user(Environment& environment) {
  if (!sees_user(environment)) {
    return failed(
        {ErrorKind::unsupported,
         fmt::format("--user: the virtual environment {} does not see the user's packages",
                     environment.prefix),
         "leave out --user, or choose another interpreter with --python"});
  }
  std::string base = variable("PYTHONUSERBASE");
  if (base.empty() && !variable("HOME").empty()) base = variable("HOME") + "/.local";
  if (!base.starts_with('/'))
    return misused("--user: HOME and PYTHONUSERBASE name no folder", "set one of them");
  environment.outer_sites.insert(environment.outer_sites.begin(), environment.purelib);
  if (environment.platlib != environment.purelib)
    environment.outer_sites.insert(environment.outer_sites.begin() + 1, environment.platlib);
  take_scheme(environment, base, environment.user_scheme);
  return {};
}

/// The same folders below another root.
Outcome<void> take_root(Environment& environment, const Arguments& arguments) {
  const auto root = folder_of(arguments, Opt::root);
  if (!root) return std::unexpected(root.error());
  const std::string above = *root == "/" ? std::string() : *root;
  for (std::string* folder : {&environment.data, &environment.purelib, &environment.platlib,
                              &environment.scripts, &environment.include})
    *folder = above + *folder;
  environment.other_base = environment.data;
  return {};
}

}  // namespace

Outcome<void> make_folder(const Environment& environment) {
  if (environment.other_base.empty()) return {};
  std::error_code error;
  fs::create_directories(environment.other_base, error);
  if (!error) return {};
  return failed(
      {ErrorKind::io,
       fmt::format("the folder {} cannot be created: {}", environment.other_base, error.message()),
       "choose another one"});
}

bool names_other_folders(const Arguments& arguments) {
  const bool user = arguments.has(Opt::user) && !arguments.has(Opt::no_user);
  return user || arguments.has(Opt::target) || arguments.has(Opt::prefix) ||
         arguments.has(Opt::root);
}

Outcome<void> choose_folders(Environment& environment, const Arguments& arguments) {
  for (const auto& [one, other] : contradictions) {
    if (arguments.has(one) && arguments.has(other)) {
      return misused(fmt::format("{} and {} cannot be combined: each names another place",
                                 option_name(one), option_name(other)),
                     "leave one of them out");
    }
  }
  Outcome<void> taken;
  if (arguments.has(Opt::target)) taken = take_target(environment, arguments);
  if (arguments.has(Opt::prefix)) taken = take_prefix(environment, arguments);
  const bool user = arguments.has(Opt::user) && !arguments.has(Opt::no_user);
  if (user) taken = take_user(environment);
  if (taken && arguments.has(Opt::root)) taken = take_root(environment, arguments);
  if (!taken) return taken;
  // As for pip, the mark of the operating system is about its own folders.
  if (environment.other_base.empty() || user) return {};
  environment.externally_managed = false;
  environment.outer_sites.clear();
  return {};
}

}  // namespace axle::session
