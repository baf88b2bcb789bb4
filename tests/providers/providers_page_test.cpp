// The tables of docs/providers.md that follow from the program. AXLE_UPDATE_GOLDEN=1 rewrites them;
// the text around them is written by hand.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "machines/overrides.h"
#include "providers/provider.h"

namespace axle::providers {
namespace {

constexpr const char* path = AXLE_SOURCE_DIR "/docs/providers.md";

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

std::string join_code(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (word.empty()) continue;
    text += (text.empty() ? "" : ", ") + code(word);
  }
  return text;
}

std::string versions_of(const Provider& provider) {
  std::string text(provider.version);
  for (const std::string_view version : provider.same_versions) text += ", " + std::string(version);
  return text;
}

std::string namespaces_table() {
  std::string text =
      "| namespace | package | version | `plugin-api` | older names | features | values |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const Provider& provider : builtin_providers()) {
    const Features all = provider.all();
    std::size_t values = 0;
    for (const Feature& feature : all) values += feature.values.size();
    std::set<std::string_view> names(provider.open_features.begin(), provider.open_features.end());
    for (const Feature& feature : all) names.insert(feature.name);
    text += "| " + code(provider.ns) + " | " + code(provider.package) + " | " +
            versions_of(provider) + " | " + join_code(provider.plugin_apis) + " | " +
            join_code(provider.aliases) + " | " + std::to_string(names.size()) + " | " +
            std::to_string(values) + (provider.open_features.empty() ? "" : " and any") + " |\n";
  }
  return text;
}

std::string overrides_table() {
  std::string text = "| variable | states |\n|---|---|\n";
  for (const machines::OverrideVariable& row : machines::override_variables())
    text += "| " + code(row.name) + " | " + std::string(row.meaning) + " |\n";
  return text;
}

/// `page` with `table` between the lines `<!-- name -->` and `<!-- END -->`.
std::string replaced(const std::string& page, const std::string& name, const std::string& table) {
  const std::string begin = "<!-- " + name + " -->\n";
  const std::size_t from = page.find(begin);
  const std::size_t to = page.find("<!-- END -->", from);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  return page.substr(0, from + begin.size()) + "\n" + table + "\n" + page.substr(to);
}

TEST_CASE("the tables of docs/providers.md are what the program has") {
  std::ifstream file(path, std::ios::binary);
  const std::string committed(std::istreambuf_iterator<char>(file), {});
  std::string page = replaced(committed, "NAMESPACES", namespaces_table());
  page = replaced(page, "OVERRIDES", overrides_table());
  if (std::getenv("AXLE_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << page;
  else
    CHECK_MESSAGE(
        committed == page,
        "run AXLE_UPDATE_GOLDEN=1 build/release/bin/providers_test and read the difference");
}

TEST_CASE("the page names every feature of namespace axle that is not a flag of the CPU") {
  std::ifstream file(path, std::ios::binary);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const Feature& feature : find_provider("axle")->all()) {
    if (detect::find_capability(feature.name)) continue;
    CHECK_MESSAGE(page.find(code(feature.name)) != std::string::npos, feature.name);
  }
  for (const Provider& provider : builtin_providers()) {
    if (page.contains("## Namespace " + code(provider.ns) + "\n")) continue;
    CHECK_MESSAGE(page.find("**`" + std::string(provider.ns) + "`**") != std::string::npos,
                  provider.ns, ": describe it under \"What each namespace contains\"");
  }
}

}  // namespace
}  // namespace axle::providers
