// The tables of docs/torch.md are what the product chooses for each GPU that --for knows.
// AXLE_UPDATE_GOLDEN=1 rewrites them; the text around them is written by hand.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "detect/gpu_vendors.h"
#include "machines/gpu_models.h"
#include "tests/torch/torch_world.h"

namespace axle::testing {
namespace {

using detect::GpuVendor;
using machines::GpuModel;

std::string platform_of(const GpuModel& model) {
  return model.host == detect::Arch::aarch64 ? "linux_aarch64" : "linux_x86_64";
}

/// One choice for all drivers of a range; where it were not one, the page could not say so in one
/// cell.
RuleChoice choose_for_all(TorchWorld& world, const GpuModel& model,
                          const std::vector<std::string>& drivers) {
  std::vector<RuleChoice> choices;
  for (const std::string& driver : drivers) {
    const std::string what = fmt::format("nvidia:gpu={},driver={}", model.name, driver);
    choices.push_back(world.choose(machine_for(what), platform_of(model)));
  }
  REQUIRE_MESSAGE(std::ranges::count(choices, choices.front()) == std::ssize(choices), model.name);
  return choices.front();
}

// The ranges that the page has columns for: CUDA 13, 12 and 11.
const std::vector<std::string> drivers_of_13 = {"580.65.06", "590.44.01", "595.71.05"};
const std::vector<std::string> drivers_of_12 = {"525.60.13", "550.54.14", "570.26", "575.64.05"};
const std::vector<std::string> drivers_of_11 = {"450.80.02", "470.256.02", "520.61.05"};

std::string cell(const RuleChoice& choice) {
  return choice.label == "cpu" ? "none" : choice.release + " " + choice.label;
}

std::string title_of(const GpuModel& model) {
  const bool aarch64 = model.host == detect::Arch::aarch64;
  return std::string(model.title) + (aarch64 ? " (aarch64)" : "");
}

std::string nvidia_row(TorchWorld& world, const GpuModel& model) {
  const RuleChoice newest = choose_for_all(world, model, drivers_of_13);
  const std::string driver =
      newest.label == "cpu" ? "" : world.family().label(newest.label)->driver;
  return fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", model.name, title_of(model),
                     model.arch, cell(newest), driver,
                     cell(choose_for_all(world, model, drivers_of_12)),
                     cell(choose_for_all(world, model, drivers_of_11)));
}

std::string plain_row(TorchWorld& world, const GpuModel& model) {
  const detect::Machine machine = machine_for(std::string(model.name));
  return fmt::format("| `{}` | {} | {} | {} |\n", model.name, title_of(model), model.arch,
                     cell(world.choose(machine, platform_of(model))));
}

std::string table_of(TorchWorld& world, GpuVendor vendor) {
  std::string text =
      vendor == GpuVendor::nvidia
          ? "| `--for` | GPU | capability | newest torch | needs driver | with 525 to 575 | with "
            "450 to 520 |\n|---|---|---|---|---|---|---|\n"
      : vendor == GpuVendor::amd
          ? "| `--for` | GPU | target | newest torch |\n|---|---|---|---|\n"
          : "| `--for` | GPU | device IP | newest torch |\n|---|---|---|---|\n";
  for (const GpuModel& model : machines::gpu_models()) {
    if (model.vendor == vendor)
      text += vendor == GpuVendor::nvidia ? nvidia_row(world, model) : plain_row(world, model);
  }
  return text;
}

/// Why the newest release with builds of the vendor, of which it is known what they have code for,
/// does not serve a GPU: the fact against its newest build.
std::string why_not(TorchWorld& world, const GpuModel& model, const detect::Machine& machine) {
  const std::string_view vendor = detect::render_vendor(model.vendor);
  for (const TableRelease& release : builds_table().releases) {
    const resolver::Explanation explained =
        world.explain(machine, platform_of(model), "torch==" + release.version + ".1");
    for (const index::FamilyLabel& label : world.family().labels) {
      const auto verdict =
          std::ranges::find(explained.decision.rejected, label.name, &plan::Verdict::label);
      if (label.vendor != vendor || verdict == explained.decision.rejected.end()) continue;
      if (verdict->evidence.find("not known") != std::string::npos) continue;
      return fmt::format("torch {} ({}): {}", release.version, label.name,
                         render_facts(verdict->facts));
    }
  }
  FAIL("no release has a build for " << vendor);
  return {};
}

std::string wrapped(const std::string& text) {
  constexpr std::size_t width = 120;
  std::string lines;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const bool breaks = column > 0 && column + 1 + (end - at) > width;
    if (column > 0) lines += breaks ? "\n  " : " ";
    column = breaks ? 2 : column + (column > 0 ? 1 : 0);
    lines += text.substr(at, end - at);
    column += end - at;
    at = end + 1;
  }
  return lines + "\n";
}

std::string unserved(TorchWorld& world) {
  std::string text;
  for (const GpuModel& model : machines::gpu_models()) {
    const detect::Machine machine = machine_for(std::string(model.name));
    if (world.choose(machine, platform_of(model)).label != "cpu") continue;
    text += wrapped(
        fmt::format("- `{}`, {}. {}", model.name, title_of(model), why_not(world, model, machine)));
  }
  return text;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

/// "gfx942", "amx_int8", "9.0"
std::string code_name(const wheel::Property& property) {
  if (property.value == "on") return property.feature;
  std::string name = property.value;
  if (const std::size_t end = name.find("_real"); end != std::string::npos)
    name = name.substr(0, end - 1) + '.' + name[end - 1];
  return name;
}

/// What an entry needs of a build and a machine, as `doctor` judges it.
std::string needs_of(const index::FamilyFeature& feature) {
  std::vector<std::string> needs;
  if (!feature.platforms.empty()) needs.push_back(joined(feature.platforms, " or "));
  if (!feature.labels.empty()) needs.push_back("builds " + joined(feature.labels, ", "));
  if (feature.discrete) needs.push_back("a discrete GPU");
  if (feature.gpus > 0) needs.push_back(fmt::format("{} GPUs", feature.gpus));
  if (!feature.capability.empty())
    needs.push_back(fmt::format("capability {} or newer", feature.capability));
  std::map<std::string, std::vector<std::string>> values;
  for (const wheel::Property& property : feature.needs)
    values[property.ns + property.feature].push_back(code_name(property));
  for (auto& [key, alternatives] : values) {
    std::ranges::sort(alternatives, {}, [](const std::string& name) {
      return std::pair(name.size(), name);  // 8.9 before 10.0, gfx942 before gfx1200
    });
    needs.push_back(joined(alternatives, " or "));
  }
  if (!feature.toolkit.empty())
    needs.push_back(fmt::format("built with {} {}", feature.vendor == "amd" ? "ROCm" : "CUDA",
                                feature.toolkit));
  if (!feature.cuda.empty())
    needs.push_back(fmt::format("a driver that runs CUDA {}", feature.cuda));
  if (!feature.unproven.empty()) needs.push_back("not shown by any fact: " + feature.unproven);
  return joined(needs, "; ");
}

std::string feature_row(const index::FamilyFeature& feature, bool first) {
  const std::string since = feature.since ? wheel::render_version(*feature.since) : "";
  const std::string until =
      feature.until ? " before " + wheel::render_version(*feature.until) : std::string();
  const auto vendor = detect::parse_vendor(feature.vendor);
  const std::string_view confidence = index::render_confidence(feature.confidence);
  return fmt::format("| {} | {}{} | {} | {} | {} | {} | {} |\n",
                     first ? fmt::format("{} (`{}`)", feature.title, feature.name) : "", since,
                     until, wheel::render_specifiers(feature.releases),
                     vendor ? detect::gpu_vendor(*vendor).title : "any", needs_of(feature),
                     feature.note,
                     fmt::format("{} ({})", joined(feature.sources, ", "),
                                 confidence.substr(confidence.rfind(' ') + 1)));
}

/// Every entry of every feature: since when, on what, and by which sources.
std::string feature_table(const index::Family& family) {
  std::string text =
      "| feature | since | known for | GPU | needs | remark | sources "
      "|\n|---|---|---|---|---|---|---|\n";
  std::string_view last;
  for (const index::FamilyFeature& feature : family.features) {
    text += feature_row(feature, feature.name != last);
    last = feature.name;
  }
  return text;
}

/// The sources that the table has the keys of.
std::string feature_sources(const index::Family& family) {
  std::set<std::string, std::less<>> used;
  for (const index::FamilyFeature& feature : family.features)
    used.insert(feature.sources.begin(), feature.sources.end());
  std::string text;
  for (const std::string& key : used)
    text += wrapped(fmt::format("- {}: {}", key, family.sources.at(key)));
  return text;
}

/// What stands between `<!-- NAME -->` and `<!-- end of NAME -->` becomes `made`.
void put(std::string& page, const std::string& name, const std::string& made) {
  const std::string start = "<!-- " + name + " -->\n";
  const std::size_t from = page.find(start);
  const std::size_t to = page.find("<!-- end of " + name + " -->");
  REQUIRE_MESSAGE((from != std::string::npos && to != std::string::npos && from < to), name);
  page.replace(from + start.size(), to - from - start.size(), "\n" + made + "\n");
}

}  // namespace

TEST_CASE("the tables of docs/torch.md are what Axle chooses") {
  const std::string path = AXLE_SOURCE_DIR "/docs/torch.md";
  std::ifstream file(path, std::ios::binary);
  const std::string committed(std::istreambuf_iterator<char>(file), {});
  TorchWorld world;
  std::string page = committed;
  put(page, "NVIDIA", table_of(world, GpuVendor::nvidia));
  put(page, "AMD", table_of(world, GpuVendor::amd));
  put(page, "Intel", table_of(world, GpuVendor::intel));
  put(page, "unserved", unserved(world));
  put(page, "features", feature_table(world.family()));
  put(page, "sources", feature_sources(world.family()));
  if (std::getenv("AXLE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << page;
  CHECK_MESSAGE(committed == page,
                "run AXLE_UPDATE_GOLDEN=1 build/release/bin/torch_test and read the difference");
}

}  // namespace axle::testing
