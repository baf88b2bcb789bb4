// list and freeze: what is in an environment.
#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/views/decision_view.h"
#include "session/inventory.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

using installer::InstalledDistribution;
using nlohmann::ordered_json;

std::string padded(std::string_view text, std::size_t width) {
  return fmt::format("{:<{}}", text, width);
}

/// Where the package was installed from, as `pip freeze` writes it, when that was not an index.
std::string direct_url(const InstalledDistribution& distribution) {
  if (distribution.direct_url.empty()) return {};
  const ordered_json document = ordered_json::parse(distribution.direct_url, nullptr, false);
  if (!document.is_object() || !document.contains("url") || !document["url"].is_string()) return {};
  std::string url = document["url"].get<std::string>();
  const ordered_json hashes =
      document.value(ordered_json::json_pointer("/archive_info/hashes"), ordered_json::object());
  if (hashes.is_object() && hashes.contains("sha256") && hashes["sha256"].is_string())
    url += "#sha256=" + hashes["sha256"].get<std::string>();
  return url;
}

/// What `pip freeze` leaves out: the tools that environments begin with.
bool is_packaging_tool(const std::string& name, const installer::Environment& environment) {
  if (name == "pip") return true;
  const std::vector<std::uint64_t>& release = environment.python_version.release;
  const bool before_312 =
      release.size() < 2 || release[0] < 3 || (release[0] == 3 && release[1] < 12);
  return before_312 && (name == "setuptools" || name == "wheel" || name == "distribute");
}

std::string render_list(const std::vector<InstalledDistribution>& distributions) {
  if (distributions.empty()) return {};
  std::size_t names = 7;
  std::size_t versions = 7;
  for (const InstalledDistribution& distribution : distributions) {
    names = std::max(names, distribution.metadata.name.size());
    versions = std::max(versions, session::version_of(distribution).size());
  }
  std::string text = padded("Package", names) + " " + padded("Version", versions) + " Variant\n" +
                     std::string(names, '-') + " " + std::string(versions, '-') + " -------\n";
  for (const InstalledDistribution& distribution : distributions) {
    std::string line = padded(distribution.metadata.name, names) + " " +
                       padded(session::version_of(distribution), versions) + " " +
                       distribution.variant.value_or("");
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

ordered_json distribution_json(const InstalledDistribution& distribution) {
  return {{"name", distribution.metadata.name},
          {"version", session::version_of(distribution)},
          {"variant", variant_json(distribution.variant)}};
}

/// As `pip freeze` writes it.
std::string requirement_of(const InstalledDistribution& distribution) {
  const std::string url = direct_url(distribution);
  return url.empty() ? distribution.metadata.name + "==" + session::version_of(distribution)
                     : distribution.metadata.name + " @ " + url;
}

}  // namespace

int run_list(session::Session& session, Output& output) {
  const auto inventory = session::take_inventory(session);
  if (!inventory) return output.failure(inventory.error());
  return output.answer({.text = [&] { return render_list(inventory->distributions); },
                        .json = [&]() -> ordered_json {
                          ordered_json rows = ordered_json::array();
                          for (const InstalledDistribution& one : inventory->distributions)
                            rows.push_back(distribution_json(one));
                          return {{"packages", rows}};
                        }});
}

int run_freeze(session::Session& session, Output& output) {
  auto inventory = session::take_inventory(session);
  if (!inventory) return output.failure(inventory.error());
  std::erase_if(inventory->distributions, [&](const InstalledDistribution& one) {
    return is_packaging_tool(one.name, inventory->environment);
  });
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const InstalledDistribution& one : inventory->distributions)
                                text += requirement_of(one) + "\n";
                              return text;
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json rows = ordered_json::array();
                          for (const InstalledDistribution& one : inventory->distributions) {
                            rows.push_back(distribution_json(one));
                            rows.back()["requirement"] = requirement_of(one);
                          }
                          return {{"packages", rows}};
                        }});
}

}  // namespace axle::cli
