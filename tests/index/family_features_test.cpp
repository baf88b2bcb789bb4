// What a family file says of features: all of it is read, nothing half-understood is.

#include <algorithm>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "index/family/family.h"
#include "index/family/shipped_families.h"
#include "tests/index/family_text.h"

namespace axle::index {
namespace {

const std::string feature = R"(
[[features]]
name = "fast-links"
title = "Fast links"
releases = ">=2.0,<2.2"
since = "2.1"
until = "2.2"
vendor = "nvidia"
labels = ["cu130"]
platforms = ["linux_x86_64"]
toolkit = "12.8"
needs = ["axle :: amx_tile :: on", "nvidia :: sm_arch :: 90_real"]
capability = "8.9"
cuda = "12.4"
gpus = 2
unproven = "links between the GPUs"
check = "acme-links --list"
source = ["CI"]
confidence = "high"
date = "2026-11"
note = "seen"
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = feature;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  return testing::small_family + text;
}

TEST_CASE("features: a file says all that it says") {
  const auto family = parse_family(testing::small_family + feature, "acme.toml");
  REQUIRE_MESSAGE(family.has_value(), family.error().message);
  REQUIRE(family->features.size() == 1);
  const FamilyFeature& one = family->features[0];
  CHECK(one.name == "fast-links");
  CHECK(one.releases.contains(*wheel::parse_version("2.1.3")));
  CHECK_FALSE(one.releases.contains(*wheel::parse_version("2.2")));
  CHECK(one.since == wheel::parse_version("2.1"));
  CHECK(one.until == wheel::parse_version("2.2"));
  CHECK(one.vendor == "nvidia");
  CHECK(one.labels == std::vector<std::string>{"cu130"});
  CHECK(one.platforms == std::vector<std::string>{"linux_x86_64"});
  CHECK(one.toolkit == "12.8");
  CHECK(one.needs.size() == 2);
  CHECK(one.capability == "8.9");
  CHECK(one.cuda == "12.4");
  CHECK(one.gpus == 2);
  CHECK(one.unproven == "links between the GPUs");
  CHECK(one.check == "acme-links --list");
  CHECK(one.confidence == Confidence::high);
  CHECK(one.date == "2026-11");
  CHECK(render_sources(*family, one.sources) == "acme/acme wheels.yaml @ 1a2b3c4");
}

TEST_CASE("features: whatever is not understood is refused, a fact without a source too") {
  const std::pair<std::pair<const char*, const char*>, const char*> cases[] = {
      {{"source = [\"CI\"]\n", ""}, "source: the fact has no source"},
      {{"source = [\"CI\"]", "source = [\"XX\"]"}, "source \"XX\" is not defined"},
      {{"name = \"fast-links\"", ""}, "name: the key is missing"},
      {{"title = \"Fast links\"", ""}, "title: the key is missing"},
      {{"\">=2.0,<2.2\"", "\"2.0\""}, "releases:"},
      {{"releases = \">=2.0,<2.2\"", ""}, "releases: the key is missing"},
      {{"since = \"2.1\"", "since = \"new\""}, "since:"},
      {{"until = \"2.2\"", "until = \"old\""}, "until:"},
      {{"until = \"2.2\"", "until = 2.2"}, "until:"},
      {{"until = \"2.2\"", "until = \"2.1\""}, "until: the feature ends before it begins"},
      {{"toolkit = \"12.8\"", "toolkit = \"new\""}, "toolkit: \"new\" is not a valid version"},
      {{"vendor = \"nvidia\"\nlabels = [\"cu130\"]", "vendor = \"intel\""},
       "toolkit: only builds for nvidia and amd have a toolkit"},
      {{"cuda = \"12.4\"", "cuda = \"cu124\""}, "cuda: \"cu124\" is not a valid version"},
      {{"capability = \"8.9\"\n", "vendors = [\"amd\"]\n"}, "vendors: unknown key"},
      {{"unproven = \"links between the GPUs\"\n", ""},
       "check: the key unproven is missing: there is nothing to find out"},
      {{"vendor = \"nvidia\"", "vendor = \"acme\""}, "is not one of nvidia, amd, intel"},
      {{"vendor = \"nvidia\"\nlabels = [\"cu130\"]", "only = true"},
       "only: the key vendor is missing"},
      {{"labels = [\"cu130\"]", "labels = [\"cu1\"]"}, "label \"cu1\" is not defined"},
      {{"labels = [\"cu130\"]", "labels = [\"xpu\"]"}, "the label xpu is not one of nvidia"},
      {{"[\"linux_x86_64\"]", "[\"linux\"]"}, "unknown platform \"linux\""},
      {{"\"axle :: amx_tile :: on\"", "\"amx\""}, "needs:"},
      {{"capability = \"8.9\"", "capability = \"sm_89\""}, "is not a valid version such as 12.8"},
      {{"vendor = \"nvidia\"\nlabels = [\"cu130\"]", "vendor = \"amd\""},
       "compute capabilities are only for nvidia"},
      {{"vendor = \"nvidia\"\nlabels = [\"cu130\"]\nplatforms = [\"linux_x86_64\"]\ntoolkit = "
        "\"12.8\"\nneeds = [\"axle :: amx_tile :: on\", \"nvidia :: sm_arch :: 90_real\"]\n"
        "capability = \"8.9\"",
        "vendor = \"amd\""},
       "CUDA versions are only for nvidia"},
      {{"gpus = 2", "gpus = 0"}, "expected a number from 1 to 64"},
      {{"gpus = 2", "gpus = \"two\""}, "expected a number from 1 to 64"},
      {{"confidence = \"high\"\n", ""}, "confidence: the key is missing"},
      {{"date = \"2026-11\"", "date = \"soon\""}, "is not a date such as 2026-11"},
      {{"note = \"seen\"", "colour = \"red\""}, "colour: unknown key"},
  };
  for (const auto& [change, expected] : cases) {
    INFO(change.second);
    const auto family = parse_family(with(change.first, change.second), "acme.toml");
    REQUIRE_FALSE(family.has_value());
    CHECK_MESSAGE(family.error().message.contains(expected), family.error().message);
  }
}

TEST_CASE("features: entries of one name are alternatives, stand together and have one title") {
  CHECK(parse_family(testing::small_family + feature + feature, "x")->features.size() == 2);
  const auto other_title = parse_family(with("\"Fast links\"", "\"Other\"") + feature, "x");
  CHECK(other_title.error().message.contains("a different title"));
  std::string between = feature;
  between.replace(between.find("fast-links"), 10, "slow-links");
  const auto apart = parse_family(testing::small_family + feature + between + feature, "x");
  CHECK(apart.error().message.contains("are not adjacent"));
}

TEST_CASE("features: torch's have a source each, and the issue's are among them") {
  for (const ShippedFamily& shipped : shipped_families()) {
    if (shipped.name != "torch") continue;
    const auto family = parse_family(shipped.toml, "torch");
    REQUIRE(family.has_value());
    for (const char* name : {"xpu",
                             "xccl",
                             "symmetric-memory",
                             "nvshmem",
                             "fsdp2-quantized",
                             "float8",
                             "float8-training",
                             "float8-rowwise",
                             "qat-pt2e",
                             "muon",
                             "amx-int8",
                             "amx-bf16",
                             "amx-fp16",
                             "amx-int4",
                             "control-flow",
                             "compile-hierarchical",
                             "graph-partition",
                             "cutlass",
                             "composable-kernel",
                             "flex-attention",
                             "mx-formats",
                             "cpu-fp8",
                             "xpu-a16w4",
                             "sycl-extensions",
                             "compile-mps",
                             "stable-abi",
                             "aotinductor",
                             "free-threaded",
                             "python-3-14",
                             "flash-attention",
                             "cuda-graphs",
                             "bf16"}) {
      INFO(name);
      const auto is = [&](const FamilyFeature& one) { return one.name == name; };
      CHECK(std::ranges::any_of(family->features, is));
    }
    for (const FamilyFeature& one : family->features) {
      INFO(one.name);
      CHECK_FALSE(render_sources(*family, one.sources).empty());
      CHECK(one.confidence != Confidence::unknown);
    }
  }
}

}  // namespace
}  // namespace axle::index
