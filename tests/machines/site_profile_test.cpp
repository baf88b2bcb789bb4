// The site's profile counts as long as it is of this machine and can be trusted, and not a moment
// longer.
#include "machines/site_profile.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "detect/probe.h"
#include "detect/record/scrub.h"
#include "detect/survey.h"
#include "machines/profile_schema.h"
#include "machines/shipped_profiles.h"

namespace axle::machines {
namespace {

namespace fs = std::filesystem;
using detect::Recording;
using detect::ReplayHost;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "axle-site-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    const std::string path = (path_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    REQUIRE(::chmod(path.c_str(), 0644) == 0);
    return path;
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

Profile shipped(std::string_view name) {
  for (const ShippedProfile& each : shipped_profiles()) {
    if (each.name != name) continue;
    auto profile = parse_profile(each.json, name);
    REQUIRE(profile.has_value());
    return std::move(*profile);
  }
  FAIL("no shipped profile is called " << name);
  return {};
}

void check_ignored(const std::string& path, detect::Host& here, SiteOwner owner,
                   std::string_view why) {
  const auto read = read_site_profile(path, owner, here);
  REQUIRE_FALSE(read.has_value());
  CHECK_MESSAGE(read.error().message.find(why) != std::string::npos, read.error().message);
  CHECK(read.error().message.find(path) != std::string::npos);
  CHECK(read.error().hint.find("variant detect --profile " + path) != std::string::npos);
}

constexpr SiteOwner mine = SiteOwner::root_or_caller;

}  // namespace

TEST_CASE("a site profile of this machine is read, and none is not an error") {
  const TemporaryFolder folder;
  const Profile profile = shipped("p5-h100x8");
  ReplayHost here(*profile.recording);
  const std::string path = folder.write("machine.json", render_profile(profile));
  const auto read = read_site_profile(path, mine, here);
  REQUIRE_MESSAGE(read.has_value(), read.error().message);
  REQUIRE(read->has_value());
  CHECK((*read)->recording == profile.recording);
  const auto none = read_site_profile(folder.at("gone.json"), mine, here);
  REQUIRE(none.has_value());
  CHECK_FALSE(none->has_value());
  CHECK(read_site_profile(folder.at("gone/machine.json"), mine, here).has_value());
}

TEST_CASE("a changed CPU, device or driver ends it") {
  const TemporaryFolder folder;
  const Profile profile = shipped("p5-h100x8");
  const std::string path = folder.write("machine.json", render_profile(profile));
  const auto check_changed = [&](const Recording& changed, std::string_view why) {
    ReplayHost here(changed);
    check_ignored(path, here, mine, why);
  };
  Recording other = *profile.recording;
  other.leaves[{1, 0}].eax += 0x10;
  check_changed(other, "the CPU changed");
  other = *profile.recording;
  other.leaves[{7, 0}].ebx ^= 1U << 5U;
  check_changed(other, "the features of the CPU changed");
  other = *profile.recording;
  other.xcr0_value ^= 4;
  check_changed(other, "XCR0 changed");
  other = *profile.recording;
  other.files.erase("/sys/bus/pci/devices/0000:10:00.0/modalias");
  check_changed(other, "the accelerators on the bus changed");
  other = *profile.recording;
  other.links["/sys/bus/pci/devices/0000:20:00.0/driver"] = "../../../../bus/pci/drivers/vfio-pci";
  check_changed(other, "the accelerators on the bus changed");
  other = *profile.recording;
  other.nodes.erase("/dev/nvidia5");
  check_changed(other, "the device nodes changed");
  other = *profile.recording;
  other.nodes["/dev/dri/renderD128"] = detect::Access::read_write;
  check_changed(other, "the device nodes changed");
  other = *profile.recording;
  other.files["/sys/module/nvidia/version"] = "580.65.06\n";
  check_changed(other, "550.54.14 was recorded, now it is 580.65.06");
  check_changed(*shipped("grace").recording, "changed");
  other = *profile.recording;
  other.nodes["/dev/nvidia3"] = detect::Access::exists;
  check_changed(other, "/dev/nvidia3 could be opened when it was recorded");
  other = *profile.recording;
  other.nodes["/dev/vfio/7"] = detect::Access::read_write;
  check_changed(other, "the device nodes changed");
  // Google's TPUs have no class of their own.
  other = *profile.recording;
  other.files["/sys/bus/pci/devices/0000:f0:00.0/modalias"] =
      "pci:v00001AE0d00000063sv00001AE0sd00000000bcFFsc00i00\n";
  check_changed(other, "the accelerators on the bus changed");
  // What is not a fact of the hardware does not end it.
  other = *profile.recording;
  other.variables["CUDA_VISIBLE_DEVICES"] = "0";
  other.name.release = "6.99";
  other.nodes["/dev/nvidia-modeset"] = detect::Access::read_write;
  ReplayHost same(other);
  CHECK(read_site_profile(path, mine, same)->has_value());
}

TEST_CASE("what cannot be trusted is ignored") {
  const TemporaryFolder folder;
  const Profile profile = shipped("haswell");
  ReplayHost here(*profile.recording);
  const std::string path = folder.write("machine.json", render_profile(profile));
  for (const mode_t mode : {0664, 0646, 0666}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    check_ignored(path, here, mine, "it is writable by users other than its owner");
  }
  REQUIRE(::chmod(path.c_str(), 0644) == 0);
  REQUIRE(::symlink(path.c_str(), folder.at("link.json").c_str()) == 0);
  check_ignored(folder.at("link.json"), here, mine, "is not a regular file");
  REQUIRE(::mkfifo(folder.at("fifo.json").c_str(), 0644) == 0);
  check_ignored(folder.at("fifo.json"), here, mine, "is not a regular file");
  REQUIRE(fs::create_directory(folder.at("folder.json")));
  check_ignored(folder.at("folder.json"), here, mine, "is not a regular file");
  check_ignored(folder.write("bad.json", "{"), here, mine, "is not JSON");
  check_ignored(folder.write("new.json", R"({"schema_version": 99})"), here, mine,
                "which reads profiles up to 2; it is ignored");
  check_ignored(folder.write("large.json", std::string(largest_profile + 1, ' ')), here, mine,
                "too large for a machine profile; it is ignored");
  Profile facts{{}, {"synthesised", "test", ""}};
  check_ignored(folder.write("facts.json", render_profile(facts)), here, mine, "it states facts");
}

TEST_CASE("a file of another user is ignored") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can give a file to another user");
    return;
  }
  const TemporaryFolder folder;
  const Profile profile = shipped("haswell");
  ReplayHost here(*profile.recording);
  const std::string path = folder.write("machine.json", render_profile(profile));
  CHECK(read_site_profile(path, SiteOwner::root, here).has_value());
  REQUIRE(::chown(path.c_str(), 4711, 4711) == 0);
  check_ignored(path, here, SiteOwner::root, "it belongs to user 4711");
  check_ignored(path, here, mine, "it belongs to user 4711");
}

TEST_CASE("a recording of this machine has this machine's fingerprint, also when scrubbed") {
  const auto host = detect::make_real_host();
  detect::RecordingHost recorder(*host);
  (void)detect::probe_machine(recorder);
  const MachineTraits here = read_traits(recorder);
  detect::survey_machine(recorder);
  const Recording clean = detect::scrub(recorder.recording(), {"somehost", {"somebody"}, "/x"});
  ReplayHost replay(clean);
  CHECK(read_traits(replay) == here);
  CHECK(here.at("the features of the CPU").size() > 8);
}

TEST_CASE("a mask that names a GPU by its id ends it: the ids are not in it") {
  const TemporaryFolder folder;
  const Profile profile = shipped("p5-h100x8");
  const std::string path = folder.write("machine.json", render_profile(profile));
  Recording masked = *profile.recording;
  masked.variables["CUDA_VISIBLE_DEVICES"] = "GPU-01234567-89ab-cdef-0123-456789abcdef";
  ReplayHost here(masked);
  const auto read = read_site_profile(path, mine, here);
  REQUIRE_FALSE(read.has_value());
  CHECK(
      read.error().message ==
      path +
          " is ignored: CUDA_VISIBLE_DEVICES names a GPU by its id, which profiles do not contain");
  CHECK(read.error().hint.contains("by its number in CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("masks and rights are the process's, not the site's") {
  const Profile profile = shipped("p5-h100x8");
  Recording process = *profile.recording;
  process.variables["CUDA_VISIBLE_DEVICES"] = "3";
  ReplayHost here(process);
  SiteHost site(*profile.recording, here);
  const detect::Machine masked = detect::probe_machine(site);
  REQUIRE(masked.gpus.size() == 8);
  CHECK(masked.gpus[0].masked);
  CHECK_FALSE(masked.gpus[3].masked);
  for (auto& [path, access] : process.nodes) {
    if (path.starts_with("/dev/")) access = detect::Access::exists;
  }
  SiteHost refused(*profile.recording, here);
  CHECK_FALSE(refused.accessible("/dev/nvidia0", detect::Access::read_write));
  CHECK(refused.accessible("/usr/lib/x86_64-linux-gnu/libcuda.so.1", detect::Access::exists));
}

}  // namespace axle::machines
