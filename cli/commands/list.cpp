// list and freeze: the packages in an environment.
#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/kept_answer.h"
#include "cli/views/decision_view.h"
#include "session/inventory.h"
#include "session/kept_answers/listing.h"
#include "session/session.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

using installer::InstalledDistribution;
using nlohmann::ordered_json;

std::string padded(std::string_view text, std::size_t width) {
  return fmt::format("{:<{}}", text, width);
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

std::string render_pins(const std::vector<InstalledDistribution>& distributions) {
  std::string text;
  for (const InstalledDistribution& one : distributions)
    text += one.metadata.name + "==" + session::version_of(one) + "\n";
  return text;
}

/// As `pip list --format json` writes it, on one line; the variant where there is one.
std::string render_pip_json(const std::vector<InstalledDistribution>& distributions) {
  ordered_json rows = ordered_json::array();
  for (const InstalledDistribution& one : distributions) {
    ordered_json row = {{"name", one.metadata.name}, {"version", session::version_of(one)}};
    if (auto place = session::editable_place(one)) row["editable_project_location"] = *place;
    if (one.variant) row["variant"] = *one.variant;
    rows.push_back(std::move(row));
  }
  return rows.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

/// "-e DIR" does not say which package that is.
std::string frozen(const InstalledDistribution& one) {
  std::string text = session::pinned_requirement(one) + "\n";
  if (!session::editable_place(one)) return text;
  return fmt::format("# Editable install ({}=={})\n{}", one.metadata.name, session::version_of(one),
                     text);
}

using Renderer = std::string (*)(const std::vector<InstalledDistribution>& distributions);

Renderer renderer_of(const session::Arguments& arguments) {
  const std::string format = arguments.value(session::Opt::list_format);
  if (format == "freeze") return render_pins;
  if (format == "json") return render_pip_json;
  return render_list;
}

}  // namespace

int run_list(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const Renderer render = renderer_of(arguments);
  session::AnswerKeeper keeper = session::listing(session);
  if (const auto answer = find_kept(keeper, output)) return give(*answer, output);
  auto inventory = session::take_inventory(session, session::MetadataDepth::essential);
  if (!inventory) return output.failure(inventory.error());
  if (may_be_kept(output))
    session::keep_listing(keeper, {render(inventory->distributions), {}, {}}, session, *inventory);
  session::select(*inventory, arguments);
  return output.answer({.text = [&] { return render(inventory->distributions); },
                        .json = [&]() -> ordered_json {
                          ordered_json rows = ordered_json::array();
                          for (const InstalledDistribution& one : inventory->distributions)
                            rows.push_back(distribution_json(one));
                          return {{"packages", rows}};
                        }});
}

int run_freeze(session::Session& session, Output& output) {
  auto inventory = session::take_inventory(session, session::MetadataDepth::essential);
  if (!inventory) return output.failure(inventory.error());
  session::select(*inventory, session.arguments());
  if (!session.arguments().has(session::Opt::all_packages)) {
    std::erase_if(inventory->distributions, [&](const InstalledDistribution& one) {
      return session::is_packaging_tool(one.name, inventory->environment);
    });
  }
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const InstalledDistribution& one : inventory->distributions)
                                text += frozen(one);
                              return text;
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json rows = ordered_json::array();
                          for (const InstalledDistribution& one : inventory->distributions) {
                            rows.push_back(distribution_json(one));
                            rows.back()["requirement"] = session::pinned_requirement(one);
                          }
                          return {{"packages", rows}};
                        }});
}

}  // namespace axle::cli
