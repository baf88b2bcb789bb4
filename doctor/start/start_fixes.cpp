#include "doctor/start/start_fixes.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "foundation/system/shell_command.h"
#include "installer/file_access.h"
#include "wheel/requirement.h"

namespace axle::doctor {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_owner_file = 16U << 20;  // bytes

/// The distribution whose RECORD lists a file.
struct StartFileOwner {
  std::string name;
  bool needed = false;  ///< another one beside it requires it
};

std::string distribution_of(const fs::path& dist_info) {
  const std::string name = dist_info.filename().string();
  return wheel::normalize_name(name.substr(0, name.find('-')));
}

std::vector<fs::path> dist_infos_in(const fs::path& site) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(site, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".dist-info") found.push_back(at->path());
  }
  std::ranges::sort(found);
  return found;
}

bool lists(const fs::path& dist_info, std::string_view path) {
  const auto record = installer::read_file((dist_info / "RECORD").string(), largest_owner_file);
  if (!record) return false;
  const std::string text = "\n" + *record;
  return text.contains(fmt::format("\n{},", path)) || text.contains(fmt::format("\n\"{}\",", path));
}

/// If only with an extra: nobody has recorded which were asked for.
bool requires_package(const fs::path& dist_info, const std::string& name) {
  const auto text = installer::read_headers((dist_info / "METADATA").string(), largest_owner_file);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  constexpr std::string_view key = "Requires-Dist:";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    if (!line.starts_with(key)) continue;
    const auto requirement = wheel::parse_requirement(line.substr(key.size()));
    if (requirement && wheel::normalize_name(requirement->name) == name) return true;
  }
  return false;
}

/// Only in a virtual environment: elsewhere it may be conda's or the operating system's.
std::optional<StartFileOwner> owner_of_start_file(const std::string& python,
                                                  const std::string& file) {
  std::error_code error;
  if (!fs::exists(fs::path(python).parent_path().parent_path() / "pyvenv.cfg", error))
    return std::nullopt;
  fs::path site = fs::path(file).parent_path();
  std::string path = fs::path(file).filename().string();
  if (path.starts_with("__init__.")) {
    path = site.filename().string() + "/" + path;
    site = site.parent_path();
  }
  const std::vector<fs::path> all = dist_infos_in(site);
  for (const fs::path& one : all) {
    if (!lists(one, path)) continue;
    StartFileOwner owner{distribution_of(one)};
    owner.needed = std::ranges::any_of(all, [&](const fs::path& other) {
      return other != one && requires_package(other, owner.name);
    });
    return owner;
  }
  return std::nullopt;
}

/// A name beside it that Python does not look for.
std::string put_aside(const std::string& file) {
  std::error_code error;
  std::string place = file;
  const std::size_t slash = place.rfind('/');
  if (std::string_view(place).substr(slash + 1).starts_with("__init__.")) place.resize(slash);
  std::string aside = place + ".disabled";
  for (int i = 2; fs::symlink_status(aside, error).type() != fs::file_type::not_found && i < 100;
       ++i)
    aside = fmt::format("{}.disabled{}", place, i);
  return shell_command(std::vector<std::string>{"mv", place, aside});
}

std::string comment_lines(const std::string& file, const std::set<unsigned>& lines) {
  std::vector<std::string> words = {"sed", "-i"};
  for (const unsigned line : lines) {
    words.emplace_back("-e");
    words.push_back(fmt::format("{}s/^/# /", line));
  }
  words.push_back(file);
  return shell_command(words);
}

}  // namespace

Hint out_of_the_start(const std::string& python, const std::string& file,
                      const std::set<unsigned>& lines, bool starts) {
  const bool lines_alone = file.ends_with(".pth") && !lines.empty();
  const std::string out_of_the_way = lines_alone ? comment_lines(file, lines) : put_aside(file);
  const auto owner = owner_of_start_file(python, file);
  if (!owner || owner->needed) return {"", {out_of_the_way}};
  Hint hint(fmt::format("{} installed it; without that package", owner->name));
  // Nothing can be removed with an interpreter that does not start.
  if (!starts) hint.commands.push_back(out_of_the_way);
  hint.commands.push_back(shell_command(
      std::vector<std::string>{"variant", "uninstall", owner->name, "--python", python}));
  return hint;
}

}  // namespace axle::doctor
