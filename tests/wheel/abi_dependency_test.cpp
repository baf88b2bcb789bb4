#include "wheel/variant/abi_dependency.h"

#include <string>

#include <doctest/doctest.h>

#include "wheel/version.h"

namespace axle::wheel {
namespace {

bool holds(const AbiNeed& need, const char* version) {
  for (const SpecifierSet& one : need.any_of) {
    if (one.contains(*parse_version(version))) return true;
  }
  return false;
}

TEST_CASE("a namespace asks for versions by its provider, the reserved one by its name") {
  VariantMetadata document;
  document.providers["linked_with"].builtin = "abi_dependency";
  document.providers["nvidia"].requires_ = {"nvidia-variant-provider"};
  CHECK(is_abi_namespace(document, "linked_with"));
  CHECK_FALSE(is_abi_namespace(document, "nvidia"));
  CHECK_FALSE(is_abi_namespace(document, "unheard_of"));
  CHECK(is_abi_namespace(document, "abi_dependency"));
  document.providers["abi_dependency"].requires_ = {"abi-dependency"};
  CHECK(is_abi_namespace(document, "abi_dependency"));
  document.providers["abi_dependency"] = {};
  document.providers["abi_dependency"].builtin = "something_else";
  CHECK_FALSE(is_abi_namespace(document, "abi_dependency"));
}

TEST_CASE("values are one to three components, several are a union") {
  const auto needs = abi_needs({}, {{"abi_dependency", "my_runtime", "2.8"},
                                    {"abi_dependency", "my_runtime", "2.10.1"},
                                    {"abi_dependency", "torch", "2"},
                                    {"nvidia", "sm_arch", "90"}});
  REQUIRE(needs.size() == 2);
  CHECK(needs[0].package == "my-runtime");
  CHECK(needs[0].text == "my-runtime 2.10.1 or 2.8");
  for (const char* version :
       {"2.8", "2.8.0", "2.8.7+cu128", "2.8.0rc1", "2.8.dev0", "2.10.1.post1"})
    CHECK_MESSAGE(holds(needs[0], version), version);
  for (const char* version : {"2.80", "2.9", "2.10", "2.10.0", "2.10.11", "1!2.8"})
    CHECK_FALSE_MESSAGE(holds(needs[0], version), version);
  CHECK(holds(needs[1], "2.15.1"));
  CHECK_FALSE(holds(needs[1], "3.0"));
}

TEST_CASE("what PEP 850 does not allow is a defect, and needs nothing") {
  for (const char* value : {"2", "2.9", "2.10.0", "0", "0.1"})
    CHECK_MESSAGE(abi_property_defect({"n", "torch", value}).empty(), value);
  for (const char* value : {"", "2.", ".2", "2.9.0.1", "2.09", "02", "v2", "2.9rc1", "2..9",
                            "99999999999999999999", "2_9"}) {
    CHECK_FALSE_MESSAGE(abi_property_defect({"n", "torch", value}).empty(), value);
    CHECK(abi_needs({}, {{"abi_dependency", "torch", value}}).empty());
  }
  for (const char* feature : {"my_runtime", "a1"})
    CHECK_MESSAGE(abi_property_defect({"n", feature, "2"}).empty(), feature);
  for (const char* feature : {"my__runtime", "_a", "a_", "_", ""})
    CHECK_FALSE_MESSAGE(abi_property_defect({"n", feature, "2"}).empty(), feature);
}

}  // namespace
}  // namespace axle::wheel
