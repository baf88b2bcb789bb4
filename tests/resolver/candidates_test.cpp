// The solver over candidates in memory: no index, no transport, no file.
#include "resolver/catalogue/candidates.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "resolver/solver/solver.h"
#include "tests/resolver/solver_world.h"

namespace {

using axle::ErrorKind;
using axle::Result;
using axle::testing::requirement;
using axle::testing::version;
namespace index = axle::index;
namespace plan = axle::plan;
namespace resolver = axle::resolver;
namespace wheel = axle::wheel;

struct WheelOnShelf {
  std::vector<std::string> needs = {};
  std::string label = {};
  std::string requires_python = {};
};

class Shelf final : public resolver::Candidates {
 public:
  void put(const std::string& name, const std::string& at,
           const std::vector<WheelOnShelf>& wheels) {
    resolver::Release& release = releases_[name].emplace_back();
    release.version = version(at);
    release.source = "the shelf";
    for (const WheelOnShelf& one : wheels) {
      index::PublishedFile& file = release.changed_files().wheels.emplace_back();
      const std::string ending = one.label.empty() ? "" : "-" + one.label;
      file.filename = name + "-" + at + "-py3-none-any" + ending + ".whl";
      wheel::CoreMetadata& metadata = metadata_[file.filename];
      metadata.name = name;
      metadata.version = release.version;
      for (const std::string& need : one.needs) metadata.requires_dist.push_back(requirement(need));
      if (!one.requires_python.empty())
        metadata.requires_python = *wheel::parse_specifiers(one.requires_python);
    }
    std::ranges::sort(releases_[name], std::ranges::greater{}, &resolver::Release::version);
  }

  Result<std::vector<resolver::Release*>> releases(std::string_view name) override {
    std::vector<resolver::Release*> found;
    for (resolver::Release& release : releases_[std::string(name)]) found.push_back(&release);
    return found;
  }
  Result<std::vector<resolver::Release*>> matching(std::string_view name,
                                                   const resolver::VersionFilter& filter) override {
    std::vector<resolver::Release*> found;
    for (resolver::Release& release : releases_[std::string(name)]) {
      if (filter.contains(release)) found.push_back(&release);
    }
    return found;
  }
  Result<resolver::Release*> direct(std::string_view name, const resolver::NamedPlaces&) override {
    return axle::fail(ErrorKind::not_found, std::string(name) + " has no URL here");
  }
  Result<std::vector<resolver::KnownVersion>> versions(std::string_view name) override {
    std::vector<resolver::KnownVersion> known;
    for (const resolver::Release& release : releases_[std::string(name)])
      known.push_back({release.version});
    return known;
  }
  Result<const resolver::ReleaseMetadata*> variants(
      std::string_view, const resolver::Release&,
      const std::vector<const resolver::CandidateWheel*>& wheels) override {
    std::vector<std::string> labels;
    for (const resolver::CandidateWheel* one : wheels) labels.push_back(one->label);
    levels_.document = axle::testing::level_variants(labels);
    return &levels_;
  }
  Result<resolver::WheelMetadata> metadata(std::string_view, const resolver::Release&,
                                           const resolver::CandidateWheel& one) override {
    if (std::ranges::find(opened, one.file->filename) == opened.end())
      opened.push_back(one.file->filename);
    return std::make_shared<const wheel::CoreMetadata>(metadata_.at(one.file->filename));
  }
  std::optional<std::string> first_sha256(const resolver::CandidateWheel&) override { return {}; }
  Result<const index::Family*> family_of(std::string_view) override { return nullptr; }
  std::string assigned_url(std::string_view) const override { return {}; }
  resolver::Whereabouts whereabouts(std::string_view) override { return {"the shelf", {}, {}}; }

  std::vector<std::string> opened;  ///< whose metadata was read, in order

 private:
  std::map<std::string, std::deque<resolver::Release>> releases_;
  std::map<std::string, wheel::CoreMetadata> metadata_;  ///< by file name
  resolver::ReleaseMetadata levels_;
};

struct Shop {
  Shelf shelf;
  axle::detect::Machine machine;
  resolver::Options options;
  axle::CollectedReport report;

  auto try_resolve(const std::string& text) {
    const resolver::Target target = axle::testing::cpython_311(machine);
    return resolver::resolve({.requirements = {{requirement(text)}}}, target, {}, shelf, options,
                             report);
  }
  std::vector<std::string> resolve(const std::string& text) {
    const auto resolution = try_resolve(text);
    REQUIRE_MESSAGE(resolution.has_value(), resolution.error().message);
    std::vector<std::string> found;
    for (const plan::ResolvedPackage& package : resolution->packages)
      found.push_back(package.filename);
    return found;
  }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the solver needs no more than candidates: releases, wheels, what one wheel needs") {
  Shop shop;
  shop.shelf.put("app", "1.0", {{{"lib<2"}}});
  shop.shelf.put("lib", "1.0", {{}});
  shop.shelf.put("lib", "2.0", {{}});
  CHECK(shop.resolve("app") == Names{"app-1.0-py3-none-any.whl", "lib-1.0-py3-none-any.whl"});
  CHECK(shop.shelf.opened == Names{"app-1.0-py3-none-any.whl", "lib-1.0-py3-none-any.whl"});
}

TEST_CASE("of a release the metadata of the wheel counts that is chosen, not of its neighbours") {
  Shop shop;
  shop.shelf.put("app", "1.0", {{{"slow"}, "v1"}, {{"fast"}, "v3"}});
  shop.shelf.put("slow", "1.0", {{}});
  shop.shelf.put("fast", "1.0", {{}});
  CHECK(shop.resolve("app") == Names{"app-1.0-py3-none-any-v3.whl", "fast-1.0-py3-none-any.whl"});
  shop.options.pinned_variants["app"] = "v1";
  CHECK(shop.resolve("app") == Names{"app-1.0-py3-none-any-v1.whl", "slow-1.0-py3-none-any.whl"});
}

TEST_CASE("candidates in memory: an older release where the newest wheel is for another Python") {
  Shop shop;
  shop.shelf.put("app", "1.0", {{}});
  shop.shelf.put("app", "2.0", {{.requires_python = ">=3.12"}});
  CHECK(shop.resolve("app") == Names{"app-1.0-py3-none-any.whl"});
  const auto refused = shop.try_resolve("app>=2");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().kind == ErrorKind::unsupported);
  const auto nowhere = shop.try_resolve("other");
  REQUIRE_FALSE(nowhere.has_value());
  CHECK(nowhere.error().message.find("package other was not found in the shelf") !=
        std::string::npos);
}
