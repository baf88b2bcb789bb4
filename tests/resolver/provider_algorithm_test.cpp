// Plugins in the provider algorithm: who is asked, when, and what comes of it.
#include "resolver/choice/provider_algorithm.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "resolver/choice/ranking.h"

using axle::CollectedReport;
using axle::detect::Machine;
namespace plan = axle::plan;
namespace resolver = axle::resolver;
namespace wheel = axle::wheel;

namespace {

/// Answers as it is told, and keeps what it was asked.
class ScriptedHost final : public resolver::PluginHost {
 public:
  std::vector<resolver::PluginLists> ask(std::span<const resolver::PluginRequest> requests,
                                         axle::Report&) override {
    rounds.emplace_back(requests.begin(), requests.end());
    std::vector<resolver::PluginLists> lists;
    for (const resolver::PluginRequest& request : requests) {
      const auto known = answers.find(request.ns);
      lists.push_back(
          known == answers.end()
              ? resolver::PluginLists{plan::ListOrigin::untrusted, "nobody trusts it", {}}
              : known->second);
    }
    return lists;
  }

  std::map<std::string, resolver::PluginLists, std::less<>> answers;
  std::vector<std::vector<resolver::PluginRequest>> rounds;
};

struct Document {
  Document() {
    metadata.namespaces = {"one", "two"};
    metadata.providers["one"].requires_ = {"one-provider>=1"};
    metadata.providers["two"].requires_ = {"two-provider"};
    metadata.variants["a"] = {{"one", "speed", "fast"}};
    metadata.variants["b"] = {{"two", "speed", "fast"}};
    metadata.variants["null"] = {};
    host.answers["one"] = {
        plan::ListOrigin::plugin, "one-provider 1.0", {{"speed", true, {"fast"}}}};
    host.answers["two"] = {
        plan::ListOrigin::plugin, "two-provider 1.0", {{"speed", true, {"slow"}}}};
    policy.plugins = &host;
  }

  resolver::SupportedLists lists() {
    return resolver::supported_lists(metadata, machine, policy, markers, report);
  }
  plan::ListOrigin origin(std::string_view ns) {
    const auto found = lists();
    return std::ranges::find(found.origins, ns, &plan::NamespaceOrigin::ns)->origin;
  }
  std::vector<std::string> asked() const {
    std::vector<std::string> names;
    for (const auto& round : host.rounds) {
      for (const auto& request : round) names.push_back(request.ns);
    }
    return names;
  }

  wheel::VariantMetadata metadata;
  ScriptedHost host;
  resolver::ProviderPolicy policy;
  Machine machine;
  wheel::MarkerEnvironment markers{{{"sys_platform", "linux"}, {"python_version", "3.11"}}, {}};
  CollectedReport report;
};

using Names = std::vector<std::string>;

std::vector<wheel::FeatureValues> one_list() {
  wheel::FeatureValues list;
  list.feature = "speed";
  list.values = {"fast"};
  return {list};
}

}  // namespace

TEST_CASE("plugins are asked together, with what the metadata names") {
  Document document;
  document.metadata.providers["two"].plugin_api = "two_provider.plugin:Plugin";
  const auto found = document.lists();
  REQUIRE(document.host.rounds.size() == 1);
  REQUIRE(document.host.rounds[0].size() == 2);
  CHECK(document.host.rounds[0][0].requires_ == Names{"one-provider>=1"});
  CHECK(document.host.rounds[0][0].plugin_api == "one_provider");
  CHECK(document.host.rounds[0][1].plugin_api == "two_provider.plugin:Plugin");
  CHECK(found.origins[0].origin == plan::ListOrigin::plugin);
  CHECK(found.origins[0].detail == "one-provider 1.0");
  const auto ranking = resolver::rank_variants(document.metadata, found.lists);
  REQUIRE(ranking.ranked.size() == 2);
  CHECK(ranking.ranked[0].label == "a");
}

TEST_CASE("a plugin that fails empties its namespace and no other") {
  Document document;
  document.host.answers["one"] = {plan::ListOrigin::failed, "it crashed", {}};
  document.metadata.variants["c"] = {{"two", "speed", "slow"}};
  const auto found = document.lists();
  CHECK(found.origins[0].origin == plan::ListOrigin::failed);
  CHECK_FALSE(found.lists.contains("one"));
  const auto ranking = resolver::rank_variants(document.metadata, found.lists);
  REQUIRE_FALSE(ranking.ranked.empty());
  CHECK(ranking.ranked[0].label == "c");
}

TEST_CASE("the order of the PEP: what comes before a plugin keeps it from being asked") {
  SUBCASE("switched off") {
    Document document;
    document.policy.disabled.insert("one");
    CHECK(document.origin("one") == plan::ListOrigin::disabled);
    CHECK(document.asked() == Names{"two"});
  }
  SUBCASE("optional and not enabled, static lists included") {
    Document document;
    document.metadata.providers["one"].optional = true;
    document.metadata.providers["two"].optional = true;
    document.metadata.providers["two"].static_properties = one_list();
    const auto found = document.lists();
    CHECK(found.origins[0].origin == plan::ListOrigin::disabled);
    CHECK(found.origins[1].origin == plan::ListOrigin::disabled);
    CHECK(found.lists.empty());
    CHECK(document.asked().empty());
    document.policy.enabled = {"one"};
    CHECK(document.origin("one") == plan::ListOrigin::plugin);
  }
  SUBCASE("switched off wins over switched on") {
    Document document;
    document.policy.enabled = {"one"};
    document.policy.disabled = {"one"};
    CHECK(document.origin("one") == plan::ListOrigin::disabled);
  }
  SUBCASE("a static list") {
    Document document;
    document.metadata.providers["one"].static_properties = one_list();
    document.policy.user_lists = {{"one", {{"speed", true, {"slow"}}}}};
    CHECK(document.origin("one") == plan::ListOrigin::static_list);
    CHECK(document.asked() == Names{"two"});
  }
  SUBCASE("a list of the user") {
    Document document;
    document.policy.user_lists = {{"one", {{"speed", true, {"slow"}}}}};
    CHECK(document.origin("one") == plan::ListOrigin::user_list);
    CHECK(document.asked() == Names{"two"});
  }
  SUBCASE("a provider that Axle carries") {
    Document document;
    document.metadata.namespaces.push_back("x86_64");
    document.metadata.providers["x86_64"].requires_ = {"x86-64-variant-provider"};
    document.metadata.variants["d"] = {{"x86_64", "level", "v1"}};
    CHECK(document.origin("x86_64") == plan::ListOrigin::builtin);
    CHECK(document.asked() == Names{"one", "two"});
  }
  SUBCASE("a provider that Axle carries, in a version that it does not stand for") {
    Document document;
    document.metadata.namespaces.push_back("x86_64");
    document.metadata.providers["x86_64"].requires_ = {"x86-64-variant-provider>=99"};
    document.metadata.variants["d"] = {{"x86_64", "level", "v1"}};
    CHECK(document.origin("x86_64") == plan::ListOrigin::untrusted);
    CHECK(document.host.rounds[0][2].not_ours.contains("Axle implements version"));
  }
}

TEST_CASE("given lists alone: the document's own count for what they do not name") {
  Document document;
  document.metadata.providers["one"].static_properties = one_list();
  document.metadata.providers["two"].install_time = false;
  document.metadata.property_priorities["two"] = one_list();
  const auto lists = [&](resolver::SupportedProperties given) {
    return resolver::beside_own_lists(document.metadata, document.policy, document.markers,
                                      std::move(given));
  };
  const axle::providers::Features fast{{"speed", false, {"fast"}}};
  const axle::providers::Features slow{{"speed", true, {"slow"}}};
  CHECK(lists({}) == resolver::SupportedProperties{{"one", fast}, {"two", fast}});
  CHECK(lists({{"one", slow}}) == resolver::SupportedProperties{{"one", slow}, {"two", fast}});
  CHECK(lists({{"two", {}}}).at("two").empty());
  document.policy.disabled.insert("two");
  CHECK_FALSE(lists({}).contains("two"));
  document.metadata.providers["one"].enable_if = "sys_platform == 'win32'";
  CHECK(lists({}).empty());
  CHECK(document.asked().empty());
}

TEST_CASE("only namespaces that some variant uses are asked") {
  Document document;
  document.metadata.variants.erase("b");
  CHECK(document.origin("two") == plan::ListOrigin::none);
  CHECK(document.asked() == Names{"one"});
  CHECK(document.report.remarks.empty());
}

TEST_CASE("requirements whose markers do not hold do not count") {
  Document document;
  document.metadata.providers["one"].requires_ = {
      "other ; sys_platform == 'win32'", "one-provider ; python_version >= '3.8'", "extra-code"};
  document.metadata.providers["two"].requires_ = {"two-provider ; sys_platform == 'darwin'"};
  const auto found = document.lists();
  REQUIRE(document.asked() == Names{"one"});
  CHECK(document.host.rounds[0][0].requires_ == Names{"one-provider", "extra-code"});
  CHECK(document.host.rounds[0][0].plugin_api == "one_provider");
  CHECK(found.origins[1].origin == plan::ListOrigin::none);
  REQUIRE(document.report.remarks.size() == 1);
  CHECK(document.report.remarks[0].message.contains("none of its requirements applies"));
}

TEST_CASE("a requirement that cannot be read and a built-in that we lack are nobody's plugin") {
  Document document;
  document.metadata.providers["one"].requires_ = {"one provider !!"};
  document.metadata.providers["two"].requires_.clear();
  document.metadata.providers["two"].builtin = "two";
  const auto found = document.lists();
  CHECK(document.asked().empty());
  CHECK(found.origins[0].origin == plan::ListOrigin::none);
  CHECK(found.origins[1].origin == plan::ListOrigin::none);
  CHECK(document.report.remarks.size() == 2);
}

TEST_CASE("without a host nothing runs, and what would have to be trusted is named") {
  Document document;
  document.policy.plugins = nullptr;
  CHECK(document.origin("one") == plan::ListOrigin::untrusted);
  REQUIRE(document.report.remarks.size() == 2);
  CHECK(document.report.remarks[0].message.contains("one-provider>=1"));
}
