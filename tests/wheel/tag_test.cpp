#include "wheel/tag.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "wheel/linux_platform.h"

namespace wheel = axle::wheel;

namespace {

std::vector<std::string> rendered(const std::vector<wheel::Tag>& tags) {
  std::vector<std::string> texts;
  for (const wheel::Tag& tag : tags) texts.push_back(wheel::render_tag(tag));
  return texts;
}

wheel::TagTarget cpython(unsigned minor) {
  wheel::TagTarget target;
  target.python_minor = minor;
  target.architecture = "x86_64";
  target.libc_family = "glibc";
  target.libc_major = 2;
  target.libc_minor = 17;
  return target;
}

bool supports(const wheel::TagTarget& target, const char* triple) {
  return wheel::supported_tags(target).best_index(*wheel::parse_tags(triple)) !=
         wheel::SupportedTags::npos;
}

}  // namespace

TEST_CASE("compressed tags are expanded") {
  CHECK(rendered(*wheel::parse_tags("py2.PY3-none-any.any")) ==
        std::vector<std::string>{"py2-none-any", "py3-none-any"});
  CHECK(wheel::parse_tags("cp39.cp310-abi3.cp39-linux_x86_64.win32")->size() == 8);
}

TEST_CASE("what is not a tag is refused") {
  for (const char* triple :
       {"", "py3", "py3-none", "py3-none-any-x", "py3--any", "py3.-none-any", ".py3-none-any",
        "3py-none-any", "py3-none-an y", "py3-none-a/b", "p+-none-any"}) {
    CAPTURE(triple);
    const auto tags = wheel::parse_tags(triple);
    REQUIRE_FALSE(tags.has_value());
    CHECK(tags.error().kind == axle::ErrorKind::malformed);
  }
}

TEST_CASE("a tag that expands to millions is rejected") {
  const auto many = [](char first) {
    std::string set;
    for (int i = 0; i < 200; ++i)
      set += (i == 0 ? "" : ".") + std::string(1, first) + std::to_string(i);
    return set;
  };
  const auto tags = wheel::parse_tags(many('a') + "-" + many('b') + "-" + many('c'));
  REQUIRE_FALSE(tags.has_value());
  CHECK(tags.error().message.ends_with("it expands to more than 1000 tags"));
}

TEST_CASE("an interpreter prefers its own tags, then the stable ABI, then pure Python") {
  const auto tags = rendered(wheel::supported_tags(cpython(3)).best_first());
  const std::vector<std::string> first = {
      "cp33-cp33m-linux_x86_64", "cp33-cp33m-manylinux_2_17_x86_64",
      "cp33-cp33m-manylinux2014_x86_64", "cp33-cp33m-manylinux_2_16_x86_64"};
  CHECK(std::vector(tags.begin(), tags.begin() + 4) == first);
  const std::vector<std::string> last = {"cp33-none-any", "py33-none-any", "py3-none-any",
                                         "py32-none-any", "py31-none-any", "py30-none-any"};
  CHECK(std::vector(tags.end() - 6, tags.end()) == last);
  CHECK(std::ranges::count(tags, "cp32-abi3-manylinux1_x86_64") == 1);
}

TEST_CASE("the GIL decides between abi3 and abi3t") {
  auto target = cpython(14);
  CHECK(supports(target, "cp39-abi3-manylinux_2_17_x86_64"));
  CHECK_FALSE(supports(target, "cp314-cp314t-linux_x86_64"));
  target.free_threaded = true;
  CHECK(supports(target, "cp314-cp314t-linux_x86_64"));
  CHECK_FALSE(supports(target, "cp39-abi3-manylinux_2_17_x86_64"));
  CHECK(supports(target, "cp314-abi3t-manylinux_2_17_x86_64"));
  target.free_threaded = false;
  target.abis = {"cp314t"};
  CHECK_FALSE(supports(target, "cp39-abi3-linux_x86_64"));
}

TEST_CASE("the libc decides between manylinux and musllinux") {
  auto target = cpython(11);
  CHECK(supports(target, "py3-none-manylinux2010_x86_64"));
  CHECK_FALSE(supports(target, "py3-none-manylinux_2_18_x86_64"));
  CHECK_FALSE(supports(target, "py3-none-musllinux_1_1_x86_64"));
  target.libc_family = "musl";
  target.libc_major = 1;
  target.libc_minor = 1;
  CHECK(supports(target, "py3-none-musllinux_1_0_x86_64"));
  CHECK_FALSE(supports(target, "py3-none-musllinux_1_2_x86_64"));
  CHECK_FALSE(supports(target, "py3-none-manylinux2010_x86_64"));
  target.libc_family = "";
  CHECK(supports(target, "cp311-none-linux_x86_64"));
  CHECK_FALSE(supports(target, "py3-none-musllinux_1_0_x86_64"));
}

TEST_CASE("a platform tag of Linux says the C library and the architecture") {
  const auto parts = [](std::string_view tag) {
    const auto parsed = wheel::parse_linux_platform(tag);
    return parsed ? fmt::format("{} {}.{} {}", parsed->libc, parsed->version.first,
                                parsed->version.second, parsed->architecture)
                  : "none";
  };
  CHECK(parts("manylinux2014_x86_64") == "glibc 2.17 x86_64");
  CHECK(parts("manylinux1_i686") == "glibc 2.5 i686");
  CHECK(parts("manylinux_2_28_aarch64") == "glibc 2.28 aarch64");
  CHECK(parts("musllinux_1_2_ppc64le") == "musl 1.2 ppc64le");
  for (const char* other :
       {"", "any", "linux_x86_64", "manylinux2014_", "manylinux_2_28", "manylinux_2_28_",
        "manylinux_2_x86_64", "manylinux_99999999999_1_x", "macosx_11_0_arm64", "musllinux_1_x"}) {
    CHECK(parts(other) == "none");
  }
}

TEST_CASE("a platform has its old name before its new one, as PEP 425 sorts them") {
  const auto both = wheel::with_old_name;
  CHECK(both("manylinux_2_17_x86_64") == "manylinux2014_x86_64.manylinux_2_17_x86_64");
  CHECK(both("manylinux_2_17_aarch64") == "manylinux2014_aarch64.manylinux_2_17_aarch64");
  CHECK(both("manylinux_2_12_x86_64") == "manylinux2010_x86_64.manylinux_2_12_x86_64");
  CHECK(both("manylinux_2_5_x86_64") == "manylinux1_x86_64.manylinux_2_5_x86_64");
  for (const char* other :
       {"", "any", "linux_x86_64", "manylinux2014_x86_64", "musllinux_1_2_x86_64",
        "manylinux_2_18_x86_64", "manylinux_3_17_x86_64", "manylinux_2_17"}) {
    CHECK(both(other) == other);
  }
}

TEST_CASE("what is stated of ABIs and platforms is used as it is") {
  auto target = cpython(12);
  target.platforms = {"manylinux_2_28_aarch64", "any"};
  CHECK(supports(target, "cp312-cp312-manylinux_2_28_aarch64"));
  CHECK_FALSE(supports(target, "cp312-cp312-manylinux_2_17_aarch64"));
  CHECK_FALSE(supports(target, "cp312-cp312-linux_x86_64"));
  target.abis = {"none"};
  CHECK_FALSE(supports(target, "cp312-cp312-manylinux_2_28_aarch64"));
  CHECK(supports(target, "cp312-abi3-manylinux_2_28_aarch64"));
  target.implementation = "pp";
  target.abis.clear();
  CHECK(supports(target, "pp312-pypy312_pp73-any"));
  target.implementation = "py";
  CHECK_FALSE(supports(target, "pp312-none-any"));
  CHECK(supports(target, "py3-none-any"));
}

TEST_CASE("hostile versions of a target do not make millions of tags") {
  auto target = cpython(4'000'000'000U);
  target.libc_minor = 4'000'000'000U;
  CHECK(wheel::supported_tags(target).best_first().size() < 300'000);
}

TEST_CASE("the best of several tags counts, a repeated tag by its first place") {
  const wheel::SupportedTags supported({{"cp311", "cp311", "linux_x86_64"},
                                        {"py3", "none", "any"},
                                        {"cp311", "cp311", "linux_x86_64"}});
  CHECK(supported.best_index(*wheel::parse_tags("py2.py3-none-any")) == 1);
  CHECK(supported.best_index(*wheel::parse_tags("cp311-cp311-linux_x86_64")) == 0);
  CHECK(supported.best_index({}) == wheel::SupportedTags::npos);
}

TEST_CASE("what may fit by its name is all that fits") {
  const wheel::SupportedTags supported = wheel::supported_tags(cpython(11));
  const std::vector<std::string> pythons = {"cp311", "cp310", "cp312", "py3",       "py2.py3",
                                            "py2",   "CP311", "pp310", "cp39.cp311"};
  const std::vector<std::string> abis = {"cp311", "abi3", "none", "cp312", "cp310.abi3", "pypy310"};
  const std::vector<std::string> platforms = {
      "any",         "manylinux_2_17_x86_64.manylinux2014_x86_64",
      "win_amd64",   "manylinux_2_28_x86_64",
      "linux_ARMv7", "manylinux_2_28_aarch64.manylinux_2_5_x86_64"};
  std::size_t fitting = 0;
  std::size_t told = 0;
  for (const std::string& python : pythons) {
    for (const std::string& abi : abis) {
      for (const std::string& platform : platforms) {
        const std::string triple = python + "-" + abi + "-" + platform;
        CAPTURE(triple);
        const bool fits = supports(cpython(11), triple.c_str());
        fitting += fits ? 1 : 0;
        for (const char* around : {"a-1.0-{}.whl", "a_b-1!2.0+l.1-{}.whl", "a-1-2build-{}.whl",
                                   "a-1-{}-label.whl", "a-1-0-{}-x86_64_v3.whl"}) {
          const std::string name = fmt::format(fmt::runtime(around), triple);
          if (fits) CHECK(supported.may_fit(name));
          told += supported.may_fit(name) ? 0 : 1;
        }
      }
    }
  }
  CHECK(fitting > 10);
  CHECK(told > 300);
  for (const char* odd :
       {"", "a", "a.whl", "----.whl", "a-b-c-d-e-f-g-h.whl", "win_amd64", "-.whl"})
    CHECK(supported.may_fit(odd) == (odd != std::string("----.whl")));
}
