// A family's facts as variant metadata.

#include "index/family/family_variants.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/index/family_text.h"

namespace axle::index {
namespace {

using testing::small_family;
using testing::small_family_with;

using Labels = std::set<std::string, std::less<>>;

FamilyVariants variants_of(const std::string& text, std::string_view member, std::string_view at,
                           const Labels& labels) {
  auto family = parse_family(text, "acme.toml");
  REQUIRE_MESSAGE(family.has_value(), family.error().message);
  return family_variants(*family, member, *wheel::parse_version(at), "linux_x86_64", labels);
}

std::string properties(const FamilyVariants& variants, const std::string& label) {
  std::string text;
  for (const wheel::Property& property : variants.document.variants.at(label))
    text += (text.empty() ? "" : ", ") + wheel::render_property(property);
  return text;
}

TEST_CASE("each label has its place in the order, its driver and its code") {
  const FamilyVariants variants = variants_of(small_family, "acme", "2.1", {"cpu", "cu130", "xpu"});
  CHECK(properties(variants, "cpu") == "priority :: order :: 5");
  CHECK(
      properties(variants, "cu130") ==
      "axle :: cuda_code :: 120_real, axle :: cuda_code :: 75_real, axle :: cuda_code :: 90_real, "
      "axle :: gpu :: nvidia, nvidia :: cuda_version_lower_bound :: 13.0, "
      "nvidia :: sm_arch :: 120_real, nvidia :: sm_arch :: 75_real, nvidia :: sm_arch :: 90_real, "
      "priority :: order :: 1");
  CHECK(properties(variants, "xpu") ==
        "axle :: gpu :: intel, intel :: device_ip :: 20.1.0, intel :: device_ip :: 20.2.0, "
        "priority :: order :: 4");
  CHECK(variants.fallback == std::set<std::string, std::less<>>{"cpu"});
  CHECK(variants.unknown.empty());
  CHECK(variants.evidence.at("cu130") ==
        "code for 7.5, 9.0, 12.0, driver 580 or newer, confidence high, 2026-11-20: acme/acme "
        "wheels.yaml @ 1a2b3c4");
}

TEST_CASE("PTX takes the place of sm_arch, which cannot say it") {
  const FamilyVariants variants = variants_of(small_family, "acme", "2.0.3", {"cu126", "rocm6.4"});
  CHECK(properties(variants, "cu126") ==
        "axle :: cuda_code :: 60_real, axle :: cuda_code :: 90_real, "
        "axle :: cuda_code :: 90_virtual, axle :: cuda_code_or_jit :: 12.6, "
        "axle :: cuda_code_or_jit :: 60_real, axle :: cuda_code_or_jit :: 90_real, "
        "axle :: gpu :: nvidia, nvidia :: cuda_version_lower_bound :: 12.0, "
        "priority :: order :: 2");
  CHECK(properties(variants, "rocm6.4") ==
        "amd :: gfx_arch :: gfx90a, amd :: gfx_arch :: gfx942, axle :: gpu :: amd, "
        "priority :: order :: 3");
  CHECK(variants.evidence.at("cu126").contains("and PTX of 9.0"));
  CHECK(variants.evidence.at("cu126").ends_with("(seen)"));
}

TEST_CASE("Kepler is older than sm_arch, Thor has two numbers") {
  const FamilyVariants variants =
      variants_of(small_family_with("code = [\"7.5\", \"9.0\", \"12.0\"]",
                                    "code = [\"3.7\", \"11.0\"], cuda = \"12.0\""),
                  "acme", "2.1", {"cu130"});
  CHECK(
      properties(variants, "cu130") ==
      "axle :: cuda_code :: 101_real, axle :: cuda_code :: 110_real, axle :: cuda_code :: 37_real, "
      "axle :: gpu :: nvidia, nvidia :: cuda_version_lower_bound :: 12.0, priority :: order :: 1");
}

TEST_CASE("what is not known is said, and only what the label says itself is needed") {
  FamilyVariants variants =
      variants_of(small_family, "acme", "2.0", {"cpu", "cu130", "xpu", "cu999"});
  CHECK(
      properties(variants, "cu130") ==
      "axle :: gpu :: nvidia, nvidia :: cuda_version_lower_bound :: 13.0, priority :: order :: 1");
  CHECK(
      variants.unknown.at("cu130") ==
      "the family acme of 2026-11-20 does not know which GPUs the build cu130 of acme 2.0 has code "
      "for");
  CHECK(variants.unknown.at("xpu").contains("does not know the build xpu of acme 2.0"));
  CHECK(variants.unknown.at("cu999").ends_with("does not know the label cu999"));
  CHECK_FALSE(variants.document.variants.contains("cu999"));
  CHECK_FALSE(variants.unknown.contains("cpu"));
  variants = variants_of(small_family, "acme", "3.0+cpu", {"cpu"});
  CHECK(variants.unknown.at("cpu").ends_with("does not know the release acme 3.0"));
}

TEST_CASE("another member has the builds of the oldest release that it goes with") {
  const FamilyVariants audio =
      variants_of(small_family, "acme-audio", "2.0.1", {"cu126", "cu130", "xpu"});
  CHECK(audio.document.variants.at("cu126").contains({"axle", "cuda_code", "60_real"}));
  CHECK(audio.unknown.contains("cu130"));
  CHECK(audio.document.variants.at("xpu").contains({"intel", "device_ip", "20.1.0"}));
  CHECK_FALSE(audio.unknown.contains("xpu"));
}

}  // namespace
}  // namespace axle::index
