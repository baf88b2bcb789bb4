// Who wins when a library of one name lies in two places: ld.so(8), case by case.
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <stdlib.h>

#include "doctor/environment_checks.h"
#include "wheel/requirement.h"

namespace axle::doctor {
namespace {

namespace fs = std::filesystem;

/// site/wheel/lib/libx.so.1, site/user/libuser.so that needs it, and foreign/libx.so.1.
class Site {
 public:
  Site() {
    std::string pattern = (fs::temp_directory_path() / "axle-shadow-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
    files.packages.resize(2);
    files.packages[0].title = "wheel 1.0";
    files.packages[1].title = "user 1.0";
    files.packages[0].distribution.name = "wheel";
    files.packages[1].distribution.name = "user";
    require("user", "wheel");
    add("wheel/lib/libx.so.1", 0).facts.soname = "libx.so.1";
    add("user/libuser.so", 1).facts.needed = {"libx.so.1"};
    write("foreign/libx.so.1");
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;
  ~Site() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  [[nodiscard]] std::string at(const std::string& name) const { return (root_ / name).string(); }
  [[nodiscard]] binaries::BinaryFacts& user() { return files.libraries[1].facts; }

  [[nodiscard]] std::string verdict(const axle::doctor::LoaderPath& path) const {
    axle::doctor::Findings findings;
    axle::doctor::check_shadows(files, path, findings);
    return findings.all().empty() ? "" : findings.all().front().code;
  }
  [[nodiscard]] std::string preloaded() const {
    return verdict({{}, {at("foreign/libx.so.1")}, {}, {}});
  }
  [[nodiscard]] std::string on_path() const { return verdict({{at("foreign")}, {}, {}, {}}); }
  [[nodiscard]] std::string cached() const {
    return verdict({{}, {}, {}, {at("foreign/libx.so.1")}});
  }

  void require(const std::string& user, const std::string& name) {
    for (InstalledPackageFiles& package : files.packages) {
      if (package.distribution.name == user)
        package.distribution.metadata.requires_dist.push_back(*wheel::parse_requirement(name));
    }
  }
  axle::doctor::InstalledLibrary& add(const std::string& name, std::size_t package) {
    write(name);
    axle::doctor::InstalledLibrary library;
    library.path = at(name);
    library.name = name;
    library.package = package;
    files.libraries.push_back(std::move(library));
    return files.libraries.back();
  }

  axle::doctor::InstalledFiles files;

 private:
  void write(const std::string& name) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << name;
  }
  fs::path root_;
};

TEST_CASE("shadows: without its own run path a library gets the first one that the loader finds") {
  const Site site;
  CHECK(site.preloaded() == "library-shadowed");
  CHECK(site.on_path() == "library-shadowed");
  CHECK(site.cached() == "library-shadowed");
  CHECK(site.verdict({}).empty());
}

TEST_CASE("shadows: a library of packages that do not require the wheel means the system's") {
  Site site;
  site.files.packages[1].distribution.metadata.requires_dist.clear();
  CHECK(site.on_path() == "library-elsewhere");
  CHECK(site.cached().empty());
  site.user().runpath = {"$ORIGIN/../wheel/lib"};
  CHECK(site.on_path() == "library-shadowed");
}

TEST_CASE("shadows: what a required package loaded before by its own path is there") {
  Site site;
  site.files.packages.resize(3);
  site.files.packages[2].distribution.name = "between";
  site.require("user", "between");
  site.require("between", "wheel; extra == 'lib'");
  auto& between = site.add("between/libbetween.so", 2).facts;
  between.needed = {"libx.so.1"};
  between.rpath = {"$ORIGIN/../wheel/lib"};
  CHECK(site.on_path() == "library-elsewhere");
  CHECK(site.cached().empty());
  CHECK(site.preloaded() == "library-shadowed");
  // RUNPATH comes after LD_LIBRARY_PATH: it gets the other one itself.
  site.files.libraries.back().facts.runpath = {"$ORIGIN/../wheel/lib"};
  CHECK(site.on_path() == "library-shadowed");
  CHECK(site.cached().empty());
}

TEST_CASE(
    "shadows: an entry of /etc/ld.so.preload is removed from that file, not from a variable") {
  const Site site;
  Findings findings;
  check_shadows(site.files, {{}, {}, {site.at("foreign/libx.so.1")}, {}}, findings);
  REQUIRE(findings.all().size() == 1);
  const Finding& finding = findings.all().front();
  CHECK(finding.code == "library-shadowed");
  CHECK(finding.hint.commands.empty());
  CHECK(finding.hint.words ==
        "remove " + site.at("foreign/libx.so.1") + " from /etc/ld.so.preload");
  CHECK(finding.evidence.front().section == "/etc/ld.so.preload");
}

TEST_CASE("shadows: only preloaded libraries come before RPATH") {
  Site site;
  site.user().rpath = {"$ORIGIN/../wheel/lib"};
  CHECK(site.preloaded() == "library-shadowed");
  CHECK(site.on_path() == "library-elsewhere");
  CHECK(site.cached().empty());
}

TEST_CASE("shadows: RUNPATH comes after LD_LIBRARY_PATH and switches RPATH off") {
  Site site;
  site.user().runpath = {"${ORIGIN}/../wheel/lib"};
  CHECK(site.on_path() == "library-shadowed");
  CHECK(site.cached().empty());
  site.user().rpath = {"$ORIGIN/../wheel/lib"};
  CHECK(site.on_path() == "library-shadowed");
}

TEST_CASE("shadows: a run path to another folder does not count") {
  Site site;
  site.user().rpath = {"$ORIGIN/../nowhere"};
  CHECK(site.on_path() == "library-shadowed");
}

TEST_CASE("shadows: a library that none links to is opened by name, in the same order") {
  Site site;
  site.user().needed.clear();
  CHECK(site.on_path() == "library-shadowed");
  CHECK(site.cached().empty());
}

TEST_CASE("shadows: the wheel's own folder on the path is not a shadow") {
  const Site site;
  CHECK(site.verdict({{site.at("wheel/lib")}, {}, {}, {site.at("wheel/lib/libx.so.1")}}).empty());
}

}  // namespace
}  // namespace axle::doctor
