// Runs every tests/cases/*.case.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "foundation/report/report.h"
#include "providers/provider.h"
#include "resolver/choice/gpu_views.h"
#include "resolver/choice/provider_algorithm.h"
#include "resolver/choice/ranking.h"
#include "resolver/explain/facts.h"
#include "tests/resolver/case_file.h"

namespace plan = axle::plan;
namespace resolver = axle::resolver;
namespace testing = axle::testing;

namespace {

struct RankedCase {
  resolver::SupportedLists lists;
  std::vector<axle::detect::Machine> views;
  resolver::Ranking ranking;
  std::map<std::string, const axle::detect::Machine*, std::less<>> against;
  axle::CollectedReport report;
};

/// Reason and fact, as a person reads them.
std::string why(const testing::CaseFile& file, const RankedCase& ranked, const std::string& label) {
  for (const auto& rejected : ranked.ranking.rejected) {
    if (rejected.label != label) continue;
    const auto& property = rejected.property;
    const auto origin =
        std::ranges::find(ranked.lists.origins, property.ns, &plan::NamespaceOrigin::ns);
    const bool builtin =
        origin != ranked.lists.origins.end() && origin->origin == plan::ListOrigin::builtin;
    if (!builtin) return rejected.reason;
    const auto view = ranked.against.find(label);
    return rejected.reason + ": " +
           axle::render_facts(
               resolver::machine_facts(property, file.machine, file.policy.gpus,
                                       view == ranked.against.end() ? nullptr : view->second));
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void check_case(const testing::CaseFile& file, RankedCase& ranked) {
  const axle::wheel::MarkerEnvironment markers{{{"sys_platform", "linux"},
                                                {"platform_system", "Linux"},
                                                {"python_version", "3.11"},
                                                {"platform_machine", "x86_64"}},
                                               {}};
  ranked.lists =
      resolver::supported_lists(file.metadata, file.machine, file.policy, markers, ranked.report);
  ranked.views = axle::providers::device_views(file.machine, file.policy.gpus);
  auto viewed = resolver::rank_on_views(file.metadata, ranked.views, ranked.lists);
  ranked.ranking = std::move(viewed.ranking);
  ranked.against = std::move(viewed.against);
  std::vector<std::string> order;
  order.reserve(ranked.ranking.ranked.size());
  for (const auto& variant : ranked.ranking.ranked) order.push_back(variant.label);
  CHECK(order == file.expected);
  // A case says why each variant that it does not expect is rejected.
  std::set<std::string> explained;
  for (const auto& [label, reason] : file.rejected) {
    explained.insert(label);
    const std::string text = why(file, ranked, label);
    CHECK_MESSAGE(contains(text, reason), label, ": ", text);
  }
  for (const auto& rejected : ranked.ranking.rejected) CHECK(explained.contains(rejected.label));
  for (const auto& [ns, origin] : file.origins) {
    const auto found = std::ranges::find(ranked.lists.origins, ns, &plan::NamespaceOrigin::ns);
    REQUIRE(found != ranked.lists.origins.end());
    CHECK(testing::render_origin(found->origin) == origin);
  }
  for (const std::string& part : file.remarks) {
    CHECK(std::ranges::any_of(ranked.report.remarks, [&](const axle::Remark& remark) {
      return contains(remark.message + " " + remark.hint, part);
    }));
  }
  if (file.remarks.empty()) CHECK(ranked.report.remarks.empty());
}

}  // namespace

TEST_CASE("every case file is decided as it says") {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(AXLE_CASES)) {
    if (entry.path().extension() == ".case") paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  REQUIRE(paths.size() >= 12);
  for (const std::string& path : paths) {
    CAPTURE(path);
    const testing::CaseFile file = testing::read_case(path);
    CHECK_FALSE(file.metadata.variants.empty());
    RankedCase ranked;
    check_case(file, ranked);
  }
}

TEST_CASE("a case with an unknown directive is refused with its line") {
  const std::string path = std::filesystem::temp_directory_path() / "axle_unknown_directive.case";
  {
    std::FILE* file = std::fopen(path.c_str(), "w");
    REQUIRE(file != nullptr);
    std::fputs("priorities x86_64\nexpext null\n", file);
    std::fclose(file);
  }
  std::string message;
  try {
    static_cast<void>(testing::read_case(path));
  } catch (const std::exception& e) {
    message = e.what();
  }
  std::filesystem::remove(path);
  CHECK(contains(message, "line 2"));
  CHECK(contains(message, "expext"));
}
