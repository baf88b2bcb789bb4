#include "cli/views/projects/lock_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "foundation/text/byte_size.h"
#include "wheel/version.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using plan::LockedPackage;

/// What a class installs, as far as sizes are known.
struct ClassVolume {
  std::size_t packages = 0;
  std::uint64_t bytes = 0;
  bool whole = true;  ///< the index gives every size
};

ClassVolume volume_of(const plan::Lock& lock, std::string_view class_name) {
  ClassVolume volume;
  for (const LockedPackage& package : lock.packages) {
    if (!package.is_in(class_name)) continue;
    ++volume.packages;
    volume.bytes += package.size.value_or(0);
    volume.whole = volume.whole && package.size.has_value();
  }
  return volume;
}

std::string render_volume(const ClassVolume& volume) {
  return fmt::format("{} package{}, {}{}", volume.packages, volume.packages == 1 ? "" : "s",
                     volume.whole ? "" : "at least ", text::render_bytes(volume.bytes));
}

/// "2.9.0+cu128", "1.0 (x86_64_v3)", "1.0 (built from demo-1.0.tar.gz)"
std::string render_build(const LockedPackage& package) {
  std::string text = wheel::render_version(package.version);
  if (package.variant && package.family.empty()) text += fmt::format(" ({})", *package.variant);
  if (package.built_from) text += fmt::format(" (built from {})", package.built_from->filename);
  return text;
}

/// One file, and the classes that get it, in the lock's order. A lock has it several times where
/// their machines support different ones of its properties.
struct Build {
  const LockedPackage* package = nullptr;  ///< of the first of the classes
  std::vector<std::string> classes = {};
};

bool is_one_file(const LockedPackage& left, const LockedPackage& right) {
  return left.filename == right.filename && left.sha256 == right.sha256 && left.url == right.url &&
         left.built_from == right.built_from;
}

/// The builds of each name.
std::vector<std::vector<Build>> by_name(const plan::Lock& lock) {
  std::vector<std::vector<Build>> groups;
  for (const LockedPackage& package : lock.packages) {
    if (groups.empty() || groups.back().front().package->name != package.name)
      groups.emplace_back();
    std::vector<Build>& builds = groups.back();
    const auto same = std::ranges::find_if(
        builds, [&](const Build& build) { return is_one_file(*build.package, package); });
    if (same == builds.end()) builds.push_back({&package});
  }
  for (std::vector<Build>& builds : groups) {
    for (Build& build : builds) {
      for (const plan::LockedClass& one : lock.classes) {
        const bool has = std::ranges::any_of(lock.packages, [&](const LockedPackage& package) {
          return package.name == build.package->name && package.is_in(one.name) &&
                 is_one_file(package, *build.package);
        });
        if (has) build.classes.push_back(one.name);
      }
    }
  }
  return groups;
}

std::vector<std::string> classes_without(const plan::Lock& lock, const std::vector<Build>& builds) {
  std::vector<std::string> names;
  for (const plan::LockedClass& one : lock.classes) {
    const auto has = [&](const Build& build) {
      return std::ranges::find(build.classes, one.name) != build.classes.end();
    };
    if (std::ranges::none_of(builds, has)) names.push_back(one.name);
  }
  return names;
}

}  // namespace

std::string render_classes(const plan::Lock& lock, const Output& output) {
  std::string text;
  for (const plan::LockedClass& one : lock.classes) {
    text += fmt::format("{}  {}, Python {}: {}\n", output.paint(Style::strong, one.name),
                        one.machine, one.python, render_volume(volume_of(lock, one.name)));
    text += fmt::format("  for {}\n", one.holds.empty() ? "every machine" : one.holds);
  }
  return text;
}

ordered_json classes_json(const plan::Lock& lock) {
  ordered_json rows = ordered_json::array();
  for (const plan::LockedClass& one : lock.classes) {
    const ClassVolume volume = volume_of(lock, one.name);
    rows.push_back({{"name", one.name},
                    {"machine", one.machine},
                    {"python", one.python},
                    {"holds", one.holds},
                    {"packages", volume.packages},
                    {"bytes", volume.whole ? ordered_json(volume.bytes) : ordered_json()}});
  }
  return rows;
}

std::string render_lock_changes(const std::vector<session::LockedChange>& changes,
                                const Output& output) {
  std::string text;
  for (const session::LockedChange& change : changes) {
    if (!change.before) {
      text += output.paint(Style::good, fmt::format("+ {} {}", change.name, *change.after));
    } else if (!change.after) {
      text += output.paint(Style::bad, fmt::format("- {} {}", change.name, *change.before));
    } else {
      text += fmt::format("~ {} {} -> {}", change.name, *change.before, *change.after);
    }
    text += '\n';
  }
  return text;
}

ordered_json lock_changes_json(const std::vector<session::LockedChange>& changes) {
  const auto json = [](const std::optional<std::string>& text) {
    return text ? ordered_json(*text) : ordered_json();
  };
  ordered_json rows = ordered_json::array();
  for (const session::LockedChange& change : changes) {
    rows.push_back(
        {{"name", change.name}, {"before", json(change.before)}, {"after", json(change.after)}});
  }
  return rows;
}

std::string render_volumes(const plan::Lock& lock, const Output& output) {
  std::string text;
  for (const plan::LockedClass& one : lock.classes)
    text += fmt::format("{}  {}\n", output.paint(Style::strong, one.name),
                        render_volume(volume_of(lock, one.name)));
  return text;
}

std::string render_coverage(const plan::Lock& lock, const Output& output) {
  std::string text;
  for (const auto& builds : by_name(lock)) {
    const std::vector<std::string> without = classes_without(lock, builds);
    const bool everywhere = builds.size() == 1 && without.empty();
    text += output.paint(Style::strong, builds.front().package->name) + "\n";
    for (const auto& [package, classes] : builds) {
      const std::string size = package->size ? text::render_bytes(*package->size) : "unknown size";
      text += fmt::format("  {}  {}  {}\n",
                          everywhere ? "all classes" : fmt::format("{}", fmt::join(classes, ", ")),
                          render_build(*package), size);
      if (!package->because.empty()) text += fmt::format("    {}\n", package->because);
    }
    if (!without.empty())
      text +=
          output.paint(Style::faint, fmt::format("  not for {}", fmt::join(without, ", "))) + "\n";
  }
  return text;
}

ordered_json coverage_json(const plan::Lock& lock) {
  ordered_json rows = ordered_json::array();
  for (const auto& builds : by_name(lock)) {
    ordered_json list = ordered_json::array();
    for (const auto& [package, classes] : builds) {
      const LockedPackage& one = *package;
      list.push_back({{"version", wheel::render_version(one.version)},
                      {"variant", one.variant ? ordered_json(*one.variant) : ordered_json()},
                      {"file", one.built_from ? one.built_from->filename : one.filename},
                      {"bytes", one.size ? ordered_json(*one.size) : ordered_json()},
                      {"because", one.because},
                      {"classes", classes}});
    }
    rows.push_back({{"name", builds.front().package->name},
                    {"builds", std::move(list)},
                    {"without", classes_without(lock, builds)}});
  }
  return rows;
}

}  // namespace axle::cli
