// Family files: what is read, what is refused, and which release a version belongs to.

#include "index/family/family.h"

#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "index/family/family_book.h"
#include "index/family/shipped_families.h"
#include "tests/index/family_text.h"

namespace axle::index {
namespace {

using testing::small_family;
using testing::small_family_with;

wheel::Version version(std::string_view text) { return *wheel::parse_version(text); }

Family parsed(const std::string& text) {
  auto family = parse_family(text, "acme.toml");
  REQUIRE_MESSAGE(family.has_value(), family.error().message);
  return std::move(*family);
}

TEST_CASE("a family file says all that it says") {
  const Family family = parsed(small_family);
  CHECK(family.name == "acme");
  CHECK(family.anchor() == "acme");
  CHECK(family.has_member("acme-vision"));
  CHECK_FALSE(family.has_member("acme-rocm-tools"));
  CHECK(family.has_project("acme-rocm-tools"));
  CHECK(family.is_fallback("cpu"));
  REQUIRE(family.label("cu126") != nullptr);
  CHECK(family.label("cu126")->cuda == "12.0");
  REQUIRE(family.releases.size() == 2);
  const FamilyBuild& build = family.releases[1].builds[2];
  CHECK(build.label == "cu126");
  CHECK(build.ptx == std::vector<std::string>{"9.0"});
  CHECK(build.confidence == Confidence::measured);
  CHECK(build.note == "seen");
  CHECK(build.date == "2026-11-20");
  CHECK_FALSE(family.releases[1].builds[1].code.has_value());
  CHECK(family.releases[0].old_cxx_abi.at("linux_x86_64") == std::vector<std::string>{"xpu"});
  CHECK(family.releases[1].old_cxx_abi.empty());
}

TEST_CASE("every shipped family is sound") {
  for (const ShippedFamily& shipped : shipped_families()) {
    auto family = parse_family(shipped.toml, std::string(shipped.name));
    REQUIRE_MESSAGE(family.has_value(), family.error().message);
    CHECK(family->name == shipped.name);
  }
}

TEST_CASE("whatever is not understood is refused, with file, line and key") {
  const std::pair<std::pair<const char*, const char*>, const char*> cases[] = {
      {{"schema = 1", "schema = 2"}, "schema 2 is not supported"},
      {{"schema = 1", ""}, "schema: the key is missing"},
      {{"name = \"acme\"", ""}, "name: the key is missing"},
      {{"name = \"acme\"", "name = 3"}, "acme.toml:2: name: expected a string"},
      {{"name = \"acme\"", "name = \"a b\""}, "is not a valid name"},
      {{"\"https://acme.test/whl\"", "\"acme.test/whl\""}, "url: \"acme.test/whl\" is neither"},
      {{"label-in = \"version\"", "label-in = \"folder\""}, "the URL has no {label}"},
      {{"label-in = \"version\"", "label-in = \"name\""}, "is none of \"version\", \"folder\" and"},
      {{"acme.test/whl\"", "acme.test/whl/{gpu}\""}, "acme.toml:3: url: the URL has {gpu}"},
      {{"acme.test/whl\"", "acme.test/whl/{label\""}, "url: the URL has {label"},
      {{"acme.test/whl\"", "acme.test/{torch}\""}, "page-list: the key is missing"},
      {{"label-in = \"version\"", "label-in = \"version\"\npage-list = \"index.html\""},
       "page-list: it is for a URL with {torch}"},
      {{"label-in = \"version\"", "label-in = \"version\"\ntorch = \">=2.4\""},
       "torch: it is for a URL with {torch}"},
      {{"acme.test/whl\"", "acme.test/{torch}\"\npage-list = \"i\""}, "only for pages with links"},
      {{"acme.test/whl\"", "acme.test/{torch}\"\nlinks = true\npage-list = \"i\"\ntorch = \"2\""},
       "torch: "},
      {{"acme.test/whl\"", "acme.test/whl\"\nlinks = 1"}, "links: expected true or false"},
      {{"label-in = \"version\"", "label-in = \"built-for\""}, "follows its build"},
      {{"vendor = \"amd\"", "vendor = \"amd\"\nurl = \"acme.test\""},
       "url: \"acme.test\" is neither"},
      {{"vendor = \"amd\"", "vendor = \"amd\"\nurl = \"https://acme.test/{version}\""},
       "either all URLs of a family have {version}, or none has"},
      {{"code = \"unknown\"", "code = \"torch\""}, "or \"unknown\""},
      {{"\"acme-vision\", \"acme-audio\"]", "\"acme\"]"}, "members: duplicate acme"},
      {{"fallback = [\"cpu\"]", "fallback = [\"gpu\"]"}, "fallback: label \"gpu\" is not defined"},
      {{"ended = { acme-audio", "ended = { other"}, "ended: other is not among the members"},
      {{"date = \"2026-11-20\"", "colour = \"red\"\ndate = \"2026-11-20\""},
       "acme.toml:9: colour: unknown key"},
      {{"name = \"cu126\"", "name = \"cu130\""}, "duplicate label cu130"},
      {{"name = \"cu126\"", "name = \"cu-126\""}, "is not a valid variant label"},
      {{"vendor = \"amd\"", "vendor = \"acme\""}, "is not one of nvidia, amd, intel"},
      {{"cuda = \"12.0\"", "cuda = \"12\""}, "is not a valid version such as 12.8"},
      {{"cuda = \"12.0\"\n", ""}, "cuda: the key is missing"},
      {{"source = [\"CI\"]\n\n[[labels]]", "\n\n[[labels]]"}, "source: the fact has no source"},
      {{"source = [\"CI\"]", "source = [\"XX\"]"}, "source \"XX\" is not defined"},
      {{"version = \"2.0\"", "version = \"2.1\""}, "duplicate release 2.1"},
      {{"version = \"2.0\"", "version = \"new\""}, "neither a version such as \"2.14\" nor \"*\""},
      {{"acme-vision = \"==0.4.*\"", "acme-vision = \"0.4\""}, "goes-with: acme-vision:"},
      {{"{ linux_x86_64 = \"cu130\" }", "{ linux = \"cu130\" }"}, "platform \"linux\""},
      {{"{ linux_x86_64 = \"cu130\" }", "{ linux_x86_64 = \"cu1\" }"},
       "label \"cu1\" is not defined"},
      {{"[\"xpu\"]", "[\"cu1\"]"}, "a label that is not defined"},
      {{"{ linux_x86_64 = [\"xpu\"] }", "{ linux = [\"xpu\"] }"}, "unknown platform"},
      {{"platform = \"linux_x86_64\"", "platform = \"linux\""}, "unknown platform \"linux\""},
      {{"{ label = \"cpu\"", "{ label = \"gpu\""}, "label \"gpu\" is not defined"},
      {{"label = \"xpu\", platform", "label = \"cpu\", platform"}, "duplicate cpu for 2.1"},
      {{"code = [\"7.5\"", "code = [\"sm_75\""}, "\"sm_75\" is not a GPU of nvidia"},
      {{"code = [\"bmg\"]", "code = [\"dg9\"]"}, "\"dg9\" is not a GPU of intel"},
      {{"code = [\"gfx90a\"", "code = [\"90a\""}, "\"90a\" is not a GPU of amd"},
      {{"code = [\"bmg\"], ", ""}, "the key is missing: the GPUs that the build has code for"},
      {{"code = \"unknown\"", "code = \"all\""}, "or \"unknown\""},
      {{"ptx = [\"9.0\"]", "ptx = [\"sm_90\"]"}, "is not a valid compute capability"},
      {{"confidence = \"low\"", "confidence = \"sure\""}, "is not one of measured"},
      {{"confidence = \"low\"", "confidence = 3"}, "expected a string"},
      {{"confidence = \"low\"", "color = 1"}, "confidence: the key is missing"},
      {{"toolkit = \"12.6\"\n", ""}, "toolkit: the key is missing"},
      {{"driver = \"525.60.13\"\n", ""}, "driver: the key is missing"},
      {{"driver = \"525.60.13\"", "driver = \"banana\""}, "is not a valid driver version"},
      {{"name = \"cpu\"\nsource = [\"CI\"]", "name = \"cpu\""}, "source: the fact has no source"},
      {{"date = \"2026-10\"\n", ""}, "date: the key is missing"},
      {{"date = \"2026-10\"", "date = \"yesterday\""}, "is not a date such as 2026-11"},
      {{"CI = \"acme/acme wheels.yaml @ 1a2b3c4\"", "CI = \"\""}, "CI is not a defined source"},
      {{"{ linux_x86_64 = \"cu130\" }", "{ linux_x86_64 = \"cu126\" }"}, "no build cu126"},
      {{"acme-vision = \"==0.4.*\"", "acme = \"==0.4.*\""}, "acme is the first member"},
      {{"[\"acme-rocm-tools\"]", "[\"acme-audio\"]"}, "unlabelled: acme-audio is a member"},
      {{"version = \"2.0\"", "version = \"2.01\""}, "duplicate release 2.01"},
      {{"name = \"acme\"", "name = \"..\""}, "is not a valid name"},
      {{"name = \"cu126\"", "name = \".cu126\""}, "must not begin with a dot"},
      {{"[sources]", "[sources"}, "is not TOML"},
  };
  for (const auto& [change, expected] : cases) {
    const auto family = parse_family(small_family_with(change.first, change.second), "acme.toml");
    INFO(change.second);
    REQUIRE_FALSE(family.has_value());
    CHECK_MESSAGE(family.error().message.contains(expected), family.error().message);
    CHECK(family.error().message.starts_with("acme.toml"));
  }
  CHECK(parse_family(small_family_with("schema = 1", "schema = 2"), "x").error().kind ==
        ErrorKind::unsupported);
}

TEST_CASE("the longest prefix says what a release is, and other members go by what they go with") {
  const Family family =
      parsed(small_family +
             "\n[[releases]]\nversion = \"2.1.3\"\ndate = \"2026-10\"\nsource = [\"CI\"]\n"
             "\n[[releases]]\nversion = \"*\"\ndate = \"2026-10\"\nsource = [\"CI\"]\n");
  const auto release = [&](std::string_view member, std::string_view text) {
    const FamilyRelease* found = find_release(family, member, version(text));
    return found == nullptr ? std::string("none") : found->version;
  };
  CHECK(release("acme", "2.1") == "2.1");
  CHECK(release("acme", "2.1.2+cu130") == "2.1");
  CHECK(release("acme", "2.1.3") == "2.1.3");
  CHECK(release("acme", "2.10") == "*");
  CHECK(release("acme-vision", "0.3.9+cpu") == "2.0");
  CHECK(release("acme-audio", "2.0.1") == "2.1");
  CHECK(release("acme-vision", "9") == "*");
  CHECK(find_release(parsed(small_family), "acme", version("3.0")) == nullptr);
}

TEST_CASE("labels are read from file names, and the platform from tags") {
  const Family family = parsed(small_family);
  ProjectPage page;
  for (const char* name :
       {"acme-2.0+cu126-cp311-cp311-linux_x86_64.whl", "acme-2.0+rocm6.4-cp311-cp311-win_amd64.whl",
        "acme-2.0+CU130-py3-none-any.whl", "acme-2.0+ubuntu.1-py3-none-any.whl",
        "acme-2.0-py3-none-any.whl", "acme-2.0+cu126.tar.gz"}) {
    page.files.push_back({});
    page.files.back().filename = name;
  }
  label_files(family, page, true);
  CHECK(page.files[0].label == "cu126");
  CHECK(page.files[1].label == "rocm6.4");
  CHECK(page.files[2].label == "cu130");
  CHECK(page.files[3].label.empty());
  CHECK(page.files[4].label.empty());
  CHECK(page.files[5].label.empty());
  label_files(family, page, false);
  CHECK(page.files[3].label == "ubuntu.1");
  CHECK(family_platform("cp311-cp311-manylinux_2_28_x86_64") == "linux_x86_64");
  CHECK(family_platform("cp311-cp311-linux_aarch64") == "linux_aarch64");
  CHECK(family_platform("cp311-cp311-win_amd64") == "windows_amd64");
  CHECK(family_platform("cp311-none-macosx_14_0_arm64") == "macos_arm64");
  CHECK(family_platform("py3-none-any").empty());
}

TEST_CASE("a user's family replaces a shipped one, a mirror the address alone") {
  const auto transport = make_transport({});
  CollectedReport report;
  FamilyBook book(*transport, report);
  book.add_shipped();
  REQUIRE((*book.of_project("torchvision"))->name == "torch");
  CHECK(*book.of_project("numpy") == nullptr);
  REQUIRE(book.add_file(small_family_with("name = \"acme\"", "name = \"torch\""), "mine.toml"));
  CHECK(*book.of_project("torchvision") == nullptr);
  CHECK((*book.of_project("acme"))->where == "mine.toml");
  REQUIRE(book.set_url("torch", "https://mirror.test/whl/"));
  CHECK((*book.named("torch"))->url == "https://mirror.test/whl");
  CHECK(book.set_url("torhc", "https://mirror.test").error().hint.contains("torch"));
  CHECK(book.set_url("torch", "mirror").error().kind == ErrorKind::malformed);
  CHECK(book.set_url("llama-cpp-python", "https://mirror.test").error().hint.contains("{label}"));
  CHECK_FALSE(book.add_file("name", "broken.toml").has_value());
}

}  // namespace
}  // namespace axle::index
