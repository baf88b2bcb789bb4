// list, freeze, check and show: what is in an environment.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/decision_view.h"
#include "cli/session.h"
#include "cli/workspace.h"
#include "installer/installed.h"
#include "wheel/record.h"

namespace axle::cli {

namespace {

using installer::InstalledDistribution;
using nlohmann::ordered_json;

struct Inventory {
  installer::Environment environment;
  std::vector<InstalledDistribution> distributions;
};

Outcome<Inventory> take_inventory(Session& session) {
  auto environment = open_environment(session, false);
  if (!environment) return std::unexpected(environment.error());
  auto distributions = installer::list_installed(*environment, session.output());
  if (!distributions) return failed(distributions.error());
  return Inventory{std::move(*environment), std::move(*distributions)};
}

std::string version_of(const InstalledDistribution& distribution) {
  return wheel::render_version(distribution.metadata.version);
}

std::string padded(std::string_view text, std::size_t width) {
  return fmt::format("{:<{}}", text, width);
}

/// Where the package was installed from, as `pip freeze` writes it, when that was not an index.
std::string direct_url(const InstalledDistribution& distribution) {
  if (distribution.direct_url.empty()) return {};
  const ordered_json document = ordered_json::parse(distribution.direct_url, nullptr, false);
  if (!document.is_object() || !document.contains("url") || !document["url"].is_string()) return {};
  return document["url"].get<std::string>();
}

/// What `pip freeze` leaves out: the tools that environments begin with.
bool is_packaging_tool(const std::string& name, const installer::Environment& environment) {
  if (name == "pip") return true;
  const std::vector<std::uint64_t>& release = environment.python_version.release;
  const bool before_312 =
      release.size() < 2 || release[0] < 3 || (release[0] == 3 && release[1] < 12);
  return before_312 && (name == "setuptools" || name == "wheel" || name == "distribute");
}

std::vector<std::string> required_by(const Inventory& inventory, const std::string& name) {
  std::vector<std::string> names;
  for (const InstalledDistribution& other : inventory.distributions) {
    for (const wheel::Requirement& requirement : other.metadata.requires_dist) {
      if (wheel::normalize_name(requirement.name) != name) continue;
      if (requirement.marker && !requirement.marker->evaluate(inventory.environment.markers))
        continue;
      names.push_back(other.metadata.name);
      break;
    }
  }
  return names;
}

std::string field(const wheel::CoreMetadata& metadata, std::string_view name) {
  for (const auto& [key, value] : metadata.fields) {
    if (key == name) return value;
  }
  return {};
}

std::vector<std::string> files_of(const InstalledDistribution& distribution) {
  std::ifstream file(distribution.dist_info + "/RECORD", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> files;
  if (const auto record = wheel::parse_record(text, "RECORD")) {
    for (const wheel::RecordEntry& entry : *record) files.push_back(entry.path);
  }
  return files;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string required_name(const installer::BrokenRequirement& broken) {
  const auto requirement = wheel::parse_requirement(broken.requirement);
  return requirement ? wheel::normalize_name(requirement->name) : broken.requirement;
}

struct Shown {
  std::string text;
  ordered_json body;
};

Shown show_one(const Inventory& inventory, const InstalledDistribution& distribution,
               bool with_files) {
  std::vector<std::string> needs;
  for (const wheel::Requirement& requirement : distribution.metadata.requires_dist) {
    if (requirement.marker && !requirement.marker->evaluate(inventory.environment.markers))
      continue;
    needs.push_back(requirement.name);
  }
  const std::vector<std::string> users = required_by(inventory, distribution.name);
  const std::size_t slash = distribution.dist_info.rfind('/');
  const std::string location = distribution.dist_info.substr(0, slash);
  Shown shown;
  shown.text = fmt::format(
      "Name: {}\nVersion: {}\nVariant: {}\nSummary: {}\nHome-page: {}\nAuthor: {}\nLicense: "
      "{}\nLocation: {}\n"
      "Installer: {}\nRequires: {}\nRequired-by: {}\n",
      distribution.metadata.name, version_of(distribution), distribution.variant.value_or(""),
      distribution.metadata.summary, field(distribution.metadata, "Home-page"),
      field(distribution.metadata, "Author"),
      field(distribution.metadata, "License-Expression").empty()
          ? field(distribution.metadata, "License")
          : field(distribution.metadata, "License-Expression"),
      location, distribution.installer, joined(needs), joined(users));
  shown.body = {{"name", distribution.metadata.name},
                {"version", version_of(distribution)},
                {"variant", variant_json(distribution.variant)},
                {"summary", distribution.metadata.summary},
                {"location", location},
                {"installer", distribution.installer},
                {"requires", needs},
                {"required_by", users}};
  if (with_files) {
    const std::vector<std::string> files = files_of(distribution);
    shown.text += "Files:\n";
    for (const std::string& file : files) shown.text += "  " + file + "\n";
    shown.body["files"] = files;
  }
  return shown;
}

}  // namespace

int run_list(Session& session) {
  Output& output = session.output();
  auto inventory = take_inventory(session);
  if (!inventory) return output.failure(inventory.error());
  std::size_t names = 7;
  std::size_t versions = 7;
  for (const InstalledDistribution& distribution : inventory->distributions) {
    names = std::max(names, distribution.metadata.name.size());
    versions = std::max(versions, version_of(distribution).size());
  }
  std::string text;
  ordered_json rows = ordered_json::array();
  for (const InstalledDistribution& distribution : inventory->distributions) {
    std::string line = padded(distribution.metadata.name, names) + " " +
                       padded(version_of(distribution), versions) + " " +
                       distribution.variant.value_or("");
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    rows.push_back({{"name", distribution.metadata.name},
                    {"version", version_of(distribution)},
                    {"variant", variant_json(distribution.variant)}});
  }
  if (!text.empty()) {
    text = padded("Package", names) + " " + padded("Version", versions) + " Variant\n" +
           std::string(names, '-') + " " + std::string(versions, '-') + " -------\n" + text;
  }
  return output.answer(text, {{"packages", rows}});
}

int run_freeze(Session& session) {
  Output& output = session.output();
  auto inventory = take_inventory(session);
  if (!inventory) return output.failure(inventory.error());
  std::string text;
  ordered_json rows = ordered_json::array();
  for (const InstalledDistribution& distribution : inventory->distributions) {
    if (is_packaging_tool(distribution.name, inventory->environment)) continue;
    const std::string url = direct_url(distribution);
    const std::string line = url.empty()
                                 ? distribution.metadata.name + "==" + version_of(distribution)
                                 : distribution.metadata.name + " @ " + url;
    text += line + "\n";
    rows.push_back({{"name", distribution.metadata.name},
                    {"version", version_of(distribution)},
                    {"variant", variant_json(distribution.variant)},
                    {"requirement", line}});
  }
  return output.answer(text, {{"packages", rows}});
}

int run_check(Session& session) {
  Output& output = session.output();
  auto inventory = take_inventory(session);
  if (!inventory) return output.failure(inventory.error());
  std::string text;
  ordered_json rows = ordered_json::array();
  for (const installer::BrokenRequirement& broken :
       installer::check_installed(inventory->distributions, inventory->environment)) {
    text += broken.found.empty()
                ? fmt::format("{} requires {}, which is not installed.\n", broken.package,
                              broken.requirement)
                : fmt::format("{} has requirement {}, but you have {} {}.\n", broken.package,
                              broken.requirement, required_name(broken), broken.found);
    rows.push_back(
        {{"package", broken.package},
         {"requirement", broken.requirement},
         {"found", broken.found.empty() ? ordered_json(nullptr) : ordered_json(broken.found)}});
  }
  if (rows.empty()) text = "No broken requirements found.\n";
  return output.answer(text, {{"broken", rows}}, rows.empty() ? 0 : exit_failed);
}

int run_show(Session& session) {
  Output& output = session.output();
  if (session.arguments().positionals.empty()) {
    return output.failure(misused("nothing to show", "name a package").error());
  }
  auto inventory = take_inventory(session);
  if (!inventory) return output.failure(inventory.error());
  std::string text;
  ordered_json rows = ordered_json::array();
  for (const std::string& asked : session.arguments().positionals) {
    const std::string name = wheel::normalize_name(asked);
    const auto found =
        std::find_if(inventory->distributions.begin(), inventory->distributions.end(),
                     [&](const InstalledDistribution& one) { return one.name == name; });
    if (found == inventory->distributions.end()) {
      output.warn(fmt::format("{} is not installed", asked));
      continue;
    }
    const Shown shown = show_one(*inventory, *found, session.arguments().has(Opt::files));
    text += (text.empty() ? "" : "---\n") + shown.text;
    rows.push_back(shown.body);
  }
  if (rows.empty()) {
    return output.failure(failed({ErrorKind::not_found, "none of the packages is installed",
                                  "`variant list` shows what is"})
                              .error());
  }
  return output.answer(text, {{"packages", rows}});
}

}  // namespace axle::cli
