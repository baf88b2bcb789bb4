#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/views/decision_view.h"
#include "foundation/text/nearest.h"
#include "session/inventory.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using installer::InstalledDistribution;
using nlohmann::ordered_json;

/// The files of a distribution, and how many of them are links.
struct RecordedFiles {
  std::vector<std::string> names = {};
  std::size_t hard_links = 0;
  std::size_t symbolic_links = 0;
};

RecordedFiles count_links(const InstalledDistribution& distribution,
                          std::vector<std::string> names) {
  RecordedFiles files{std::move(names)};
  const std::string site = distribution.dist_info.substr(0, distribution.dist_info.rfind('/') + 1);
  for (const std::string& name : files.names) {
    struct stat status = {};
    if (::lstat((name.starts_with('/') ? name : site + name).c_str(), &status) != 0) continue;
    if (S_ISLNK(status.st_mode)) ++files.symbolic_links;
    if (S_ISREG(status.st_mode) && status.st_nlink > 1) ++files.hard_links;
  }
  return files;
}

std::string field(const wheel::CoreMetadata& metadata, std::string_view name) {
  for (const auto& [key, value] : metadata.fields) {
    if (key == name) return value;
  }
  return {};
}

/// The old field, else the project URL with that name.
std::string home_page(const wheel::CoreMetadata& metadata) {
  const std::string old = field(metadata, "Home-page");
  if (!old.empty()) return old;
  for (const auto& [key, value] : metadata.fields) {
    const std::size_t comma = value.find(", ");
    if (key != "Project-URL" || comma == std::string::npos) continue;
    const std::string label = wheel::normalize_name(value.substr(0, comma));
    if (label == "homepage" || label == "home-page") return value.substr(comma + 2);
  }
  return {};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string location_of(const InstalledDistribution& distribution) {
  return distribution.dist_info.substr(0, distribution.dist_info.rfind('/'));
}

std::string render(const session::Inventory& inventory, const InstalledDistribution& distribution,
                   const RecordedFiles* files) {
  const wheel::CoreMetadata& metadata = distribution.metadata;
  const std::string license = field(metadata, "License-Expression");
  const std::pair<std::string_view, std::string> lines[] = {
      {"Name", metadata.name},
      {"Version", session::version_of(distribution)},
      {"Variant", distribution.variant.value_or("")},
      {"Summary", metadata.summary},
      {"Home-page", home_page(metadata)},
      {"Author", field(metadata, "Author")},
      {"Author-email", field(metadata, "Author-email")},
      {"License", license.empty() ? field(metadata, "License") : license},
      {"Location", location_of(distribution)},
      {"Installer", distribution.installer},
      {"Requires", joined(session::needs_of(inventory, distribution))},
      {"Required-by", joined(session::required_by(inventory, distribution.name))}};
  std::string text;
  for (const auto& [key, value] : lines) text += fmt::format("{}: {}\n", key, value);
  if (files == nullptr) return text;
  if (!files->names.empty()) {
    text += fmt::format("Links: {} of {} files are hard links, {} are symbolic\n",
                        files->hard_links, files->names.size(), files->symbolic_links);
  }
  text += "Files:\n";
  for (const std::string& file : files->names) text += "  " + file + "\n";
  return text;
}

ordered_json distribution_json(const session::Inventory& inventory,
                               const InstalledDistribution& distribution,
                               const RecordedFiles* files) {
  ordered_json row = {{"name", distribution.metadata.name},
                      {"version", session::version_of(distribution)},
                      {"variant", variant_json(distribution.variant)},
                      {"summary", distribution.metadata.summary},
                      {"location", location_of(distribution)},
                      {"installer", distribution.installer},
                      {"requires", session::needs_of(inventory, distribution)},
                      {"required_by", session::required_by(inventory, distribution.name)}};
  if (files != nullptr) {
    row["files"] = files->names;
    row["links"] = {{"hard", files->hard_links}, {"symbolic", files->symbolic_links}};
  }
  return row;
}

std::vector<std::string> names_of(const session::Inventory& inventory) {
  std::vector<std::string> names;
  for (const InstalledDistribution& one : inventory.distributions) names.push_back(one.name);
  return names;
}

}  // namespace

int run_show(session::Session& session, Output& output) {
  if (session.arguments().positionals.empty()) {
    return output.failure(session::misused("nothing to show", "name a package").error());
  }
  auto inventory = session::take_inventory(session, session::MetadataDepth::whole);
  if (!inventory) return output.failure(inventory.error());
  std::vector<const InstalledDistribution*> asked_for;
  std::vector<std::string> unknown;
  for (const std::string& asked : session.arguments().positionals) {
    const std::string name = wheel::normalize_name(asked);
    const auto found =
        std::find_if(inventory->distributions.begin(), inventory->distributions.end(),
                     [&](const InstalledDistribution& one) { return one.name == name; });
    if (found == inventory->distributions.end()) {
      unknown.push_back(name);
      output.warn(fmt::format("{} is not installed", asked));
      continue;
    }
    asked_for.push_back(&*found);
  }
  if (asked_for.empty()) {
    return output.failure(
        session::failed(
            {ErrorKind::not_found, "none of the packages is installed",
             text::suggest(unknown.front(), names_of(*inventory), "`variant list` shows what is")})
            .error());
  }
  std::map<const InstalledDistribution*, RecordedFiles> listed;
  if (session.arguments().has(session::Opt::files)) {
    for (const InstalledDistribution* one : asked_for) {
      auto files = session::recorded_files(*one);
      if (!files)
        output.warn(
            fmt::format("the files of {} are unknown: {}", one->name, files.error().message));
      listed.emplace(one, files ? count_links(*one, std::move(*files)) : RecordedFiles());
    }
  }
  const auto files_of = [&](const InstalledDistribution* one) {
    const auto found = listed.find(one);
    return found == listed.end() ? nullptr : &found->second;
  };
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const InstalledDistribution* one : asked_for) {
                                text += text.empty() ? "" : "---\n";
                                text += render(*inventory, *one, files_of(one));
                              }
                              return text;
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json rows = ordered_json::array();
                          for (const InstalledDistribution* one : asked_for)
                            rows.push_back(distribution_json(*inventory, *one, files_of(one)));
                          return {{"packages", rows}};
                        }});
}

}  // namespace axle::cli
