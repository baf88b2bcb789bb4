#include "tests/torch/torch_world.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "detect/nvidia/cuda_drivers.h"
#include "index/family/shipped_families.h"
#include "machines/selection.h"
#include "resolver/choice/provider_algorithm.h"
#include "resolver/choice/ranking.h"

namespace axle::testing {
namespace {

constexpr std::string_view family_url = "https://torch.test/whl";

template <class T>
T must(Result<T> result) {
  REQUIRE_MESSAGE(result.has_value(), result.error().message);
  return std::move(*result);
}

resolver::Target target_of(std::string_view platform) {
  const std::string architecture(platform.substr(platform.find('_') + 1));
  wheel::TagTarget tags;
  tags.python_minor = 12;
  tags.architecture = architecture;
  tags.libc_family = "glibc";
  tags.libc_major = 2;
  tags.libc_minor = 36;
  resolver::Target target;
  target.tags = wheel::supported_tags(tags);
  target.python_version = must(wheel::parse_version("3.12.4"));
  target.markers.strings = {{"python_version", "3.12"},
                            {"python_full_version", "3.12.4"},
                            {"os_name", "posix"},
                            {"sys_platform", "linux"},
                            {"platform_machine", architecture},
                            {"platform_system", "Linux"},
                            {"platform_python_implementation", "CPython"},
                            {"implementation_name", "cpython"}};
  return target;
}

}  // namespace

/// The page of torch, and a METADATA for each file on it; everything else is absent.
class TorchWorld::Pages final : public index::Transport, public index::Source {
 public:
  Pages() {
    page_ = "<!DOCTYPE html>\n<html><body>\n";
    for (const TableRelease& release : builds_table().releases) {
      for (const TableBuild& build : release.builds) add(release.version, build);
    }
    page_ += "</body></html>\n";
  }

  Result<index::HttpResponse> fetch(const index::HttpRequest& request) override {
    index::HttpResponse response;
    response.url = request.url;
    response.status = 200;
    if (request.url == fmt::format("{}/torch/", family_url)) {
      response.content_type = "text/html";
      response.body = page_;
    } else if (const auto version = versions_.find(request.url); version != versions_.end()) {
      response.body =
          fmt::format("Metadata-Version: 2.1\nName: torch\nVersion: {}\n", version->second);
    } else {
      response.status = 404;
    }
    return response;
  }
  Result<index::HttpResponse> download(const index::HttpRequest& request,
                                       const index::BodySink& /*sink*/) override {
    return fetch(request);
  }

  // The default index, which has nothing.
  Result<index::ProjectPage> project(std::string_view name) override {
    return index::ProjectPage{std::string(name), "https://index.test", {}};
  }
  std::string description() const override { return "https://index.test"; }

 private:
  void add(const std::string& release, const TableBuild& build) {
    if (!build.platform.starts_with("linux_")) return;
    for (const char* patch : {"0", "1"}) {
      const std::string version = fmt::format("{}.{}+{}", release, patch, build.label);
      const std::string name = fmt::format("torch-{}-cp312-cp312-manylinux_2_28_{}.whl", version,
                                           build.platform.substr(6));
      page_ += fmt::format("<a href=\"{0}\" data-core-metadata=\"true\">{0}</a>\n", name);
      versions_[fmt::format("{}/torch/{}.metadata", family_url, name)] = version;
    }
  }

  std::string page_;
  std::map<std::string, std::string> versions_;  ///< by the URL of the METADATA
};

detect::Machine machine_for(const std::string& what) {
  // Every GPU is judged with every driver here, and --for refuses a driver that is older than the
  // GPU: it is put in afterwards.
  std::string selected = what;
  std::string driver;
  constexpr std::string_view key = "driver=";
  if (const std::size_t at = what.find(key); at != std::string::npos) {
    const std::size_t end = std::min(what.find_first_of(",;", at), what.size());
    driver = what.substr(at + key.size(), end - at - key.size());
    // ",driver=570.26", or a part of its own: ";nvidia:driver=570.26".
    const std::size_t begin = what[at - 1] == ',' ? at - 1 : what.rfind(';', at);
    selected.erase(begin, end - begin);
  }
  CollectedReport report;
  auto machines = must(machines::select_machines(selected, report));
  REQUIRE(machines.size() == 1);
  detect::Machine machine = std::move(machines.front().machine);
  if (driver.empty()) return machine;
  const auto found =
      std::ranges::find(machine.drivers, detect::GpuVendor::nvidia, &detect::Driver::vendor);
  REQUIRE(found != machine.drivers.end());
  found->kernel_version = driver;
  found->api_version = detect::cuda_of_driver(driver);
  found->api_source = "driver-table";
  return machine;
}

index::Family shipped_torch() {
  const auto families = index::shipped_families();
  const auto found = std::ranges::find(families, "torch", &index::ShippedFamily::name);
  REQUIRE(found != families.end());
  return must(index::parse_family(found->toml, "shipped"));
}

std::set<std::string, std::less<>> labels_of(const TableRelease& release,
                                             std::string_view platform) {
  std::set<std::string, std::less<>> labels;
  for (const TableBuild& build : release.builds) {
    if (build.platform == platform && has_label(build)) labels.insert(build.label);
  }
  return labels;
}

index::FamilyVariants variants_of(const index::Family& family, const std::string& release,
                                  std::string_view platform,
                                  const std::set<std::string, std::less<>>& labels) {
  const auto version = must(wheel::parse_version(release + ".0"));
  return index::family_variants(family, "torch", version, platform, labels);
}

Verdicts verdicts_on(const index::FamilyVariants& variants,
                     const std::set<std::string, std::less<>>& labels,
                     const detect::Machine& machine) {
  CollectedReport report;
  const auto supported = resolver::supported_lists(variants.document, machine, {}, {}, report);
  const auto ranking = resolver::rank_variants(variants.document, supported.lists);
  Verdicts verdicts;
  for (const std::string& label : labels) verdicts[label] = Fitness::misfit;
  for (const resolver::RankedVariant& ranked : ranking.ranked) {
    verdicts[ranked.label] =
        variants.unknown.contains(ranked.label) ? Fitness::unknown : Fitness::fits;
  }
  return verdicts;
}

TorchWorld::TorchWorld()
    : pages_(std::make_unique<Pages>()),
      book_(std::make_unique<index::FamilyBook>(*pages_, book_report_)) {
  book_->add_shipped();
  REQUIRE(book_->set_url("torch", std::string(family_url)).has_value());
}

TorchWorld::~TorchWorld() = default;

const index::Family& TorchWorld::family() { return *must(book_->named("torch")); }

resolver::Explanation TorchWorld::explain(const detect::Machine& machine, std::string_view platform,
                                          std::string_view requirement) {
  resolver::Target target = target_of(platform);
  target.machine = &machine;
  const resolver::Sources sources{{pages_.get()}, {}, pages_.get(), book_.get()};
  return must(resolver::explain(must(wheel::parse_requirement(requirement)), target, sources,
                                options, report));
}

bool TorchWorld::remarked(std::string_view part) const {
  return std::ranges::any_of(report.remarks, [&](const Remark& remark) {
    return remark.message.find(part) != std::string::npos;
  });
}

RuleChoice TorchWorld::choose(const detect::Machine& machine, std::string_view platform,
                              std::string_view requirement) {
  resolver::Target target = target_of(platform);
  target.machine = &machine;
  resolver::Requests requests;
  requests.requirements.push_back({must(wheel::parse_requirement(requirement))});
  const resolver::Sources sources{{pages_.get()}, {}, pages_.get(), book_.get()};
  report.remarks.clear();
  auto resolution = resolver::resolve(requests, target, {}, sources, options, report);
  REQUIRE_MESSAGE(resolution.has_value(), resolution.error().message);
  last = std::move(*resolution);
  REQUIRE(last.packages.size() == 1);
  const plan::ResolvedPackage& torch = last.packages.front();
  const std::string version = wheel::render_version(torch.version.public_version());
  REQUIRE_MESSAGE(version.ends_with(".1"), version);  // the newest patch
  return {version.substr(0, version.size() - 2), torch.variant.value_or("plain")};
}

}  // namespace axle::testing
