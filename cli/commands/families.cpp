#include "session/families.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "index/http/redaction.h"
#include "index/http/transport.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

std::vector<std::string> label_names(const index::Family& family) {
  std::vector<std::string> names;
  for (const index::FamilyLabel& label : family.labels) names.push_back(label.name);
  return names;
}

std::string render(const index::Family& family, const Output& output) {
  std::string text = output.paint(Style::strong, family.name) + "\n";
  text += fmt::format("  index     {}\n", index::redact_url(family.url));
  text += fmt::format("  facts     {}, of {}\n", family.where, family.date);
  text += fmt::format("  members   {}\n", fmt::join(family.members, ", "));
  if (!family.unlabelled.empty())
    text += fmt::format("  only here {}\n", fmt::join(family.unlabelled, ", "));
  text += fmt::format("  builds    {}\n", fmt::join(label_names(family), ", "));
  if (!family.releases.empty()) {
    text += fmt::format("  releases  {} to {}\n", family.releases.front().version,
                        family.releases.back().version);
  }
  return text;
}

ordered_json family_json(const index::Family& family) {
  ordered_json labels = ordered_json::array();
  for (const index::FamilyLabel& label : family.labels) {
    labels.push_back({{"label", label.name},
                      {"vendor", label.vendor},
                      {"toolkit", label.toolkit},
                      {"cuda", label.cuda},
                      {"driver", label.driver},
                      {"driver_windows", label.driver_windows}});
  }
  ordered_json releases = ordered_json::array();
  for (const index::FamilyRelease& release : family.releases) releases.push_back(release.version);
  return {{"name", family.name},
          {"url", index::redact_url(family.url)},
          {"where", family.where},
          {"date", family.date},
          {"label_in", index::render_label_place(family.label_in)},
          {"members", family.members},
          {"unlabelled", family.unlabelled},
          {"fallback", family.fallback},
          {"labels", std::move(labels)},
          {"releases", std::move(releases)}};
}

std::string render(const std::vector<const index::Family*>& families, const Output& output) {
  std::string text;
  for (const index::Family* family : families)
    text += (text.empty() ? "" : "\n") + render(*family, output);
  return text;
}

ordered_json families_json(const std::vector<const index::Family*>& families) {
  ordered_json rows = ordered_json::array();
  for (const index::Family* family : families) rows.push_back(family_json(*family));
  return rows;
}

}  // namespace

int run_index_families(session::Session& session, Output& output) {
  const auto transport = index::make_transport({});
  auto book = session::all_families(session.arguments(), *transport, output);
  if (!book) return output.failure(book.error());
  auto families = (*book)->all();
  if (!families) return output.failure(session::failed(families.error()).error());
  return output.answer(
      {.text = [&] { return render(*families, output); },
       .json = [&]() -> ordered_json { return {{"families", families_json(*families)}}; }});
}

}  // namespace axle::cli
