#include "detect/capability.h"

#include <map>
#include <set>
#include <string>
#include <tuple>

#include <doctest/doctest.h>

using namespace axle::detect;

TEST_CASE("rows are indexed by their capability and found by their name") {
  REQUIRE(capabilities().size() == capability_count);
  for (const CapabilityRow& each : capabilities()) {
    CAPTURE(each.name);
    CHECK(&row(each.id) == &each);
    CHECK(find_capability(each.name) == each.id);
  }
  CHECK_FALSE(find_capability("avx1024").has_value());
  CHECK_FALSE(find_capability("").has_value());
}

TEST_CASE("no two capabilities share a bit, a name or a property") {
  std::set<std::string_view> names;
  std::set<std::string_view> properties;
  std::set<std::tuple<Arch, std::uint32_t, std::uint32_t, int, int, int>> places;
  for (const CapabilityRow& each : capabilities()) {
    CAPTURE(each.name);
    CHECK(names.insert(each.name).second);
    if (!each.property.empty()) CHECK(properties.insert(each.property).second);
    CHECK(places
              .insert({each.arch, each.leaf, each.subleaf, static_cast<int>(each.reg), each.word,
                       each.bit})
              .second);
  }
}

TEST_CASE("every row can be read by its reader") {
  for (const CapabilityRow& each : capabilities()) {
    CAPTURE(each.name);
    const bool x86 = each.arch == Arch::x86_64;
    CHECK(each.arch != Arch::other);
    CHECK(each.bit < (x86 ? 32 : 64));
    CHECK(x86 == (each.word == 0));
    if (each.arch != Arch::riscv64) CHECK(each.word <= 3);
    CHECK(each.name == std::string(capability_prefix(each.arch)) + std::string(plain_name(each)));
    if (!x86) CHECK(each.os_state == OsState::none);
  }
}

TEST_CASE("a property is a namespace, a feature and on") {
  for (const CapabilityRow& each : capabilities()) {
    if (each.property.empty()) continue;
    CAPTURE(each.property);
    const bool known = each.property.starts_with("x86_64 :: ") ||
                       each.property.starts_with("aarch64 :: ") ||
                       each.property.starts_with("axle :: ");
    CHECK(known);
    CHECK(each.property.ends_with(" :: on"));
    // The published aarch64 list has flags as the kernel spells them; ours say whose they are.
    const bool plain = each.property.starts_with("aarch64 :: ");
    const std::string name(plain ? plain_name(each) : each.name);
    CHECK(each.property.ends_with(" :: " + name + " :: on"));
  }
}

TEST_CASE("the published x86_64 flags all have a row that stands for them") {
  // The flags of provider-variant-x86-64, in its order.
  for (const char* flag : {"avx_vnni",
                           "cppc",
                           "ibrs_enhanced",
                           "tsc_adjust",
                           "flush_l1d",
                           "movdir64b",
                           "movdiri",
                           "avx512_bf16",
                           "avx512_bitalg",
                           "avx512_vbmi2",
                           "avx512_vnni",
                           "avx512_vp2intersect",
                           "avx512_vpopcntdq",
                           "avx512ifma",
                           "avx512vbmi",
                           "rdpid",
                           "sha_ni",
                           "vaes",
                           "vpclmulqdq",
                           "clwb",
                           "clzero",
                           "avx512bw",
                           "avx512cd",
                           "avx512dq",
                           "avx512f",
                           "avx512vl",
                           "clflushopt",
                           "gfni",
                           "rdseed",
                           "xsavec",
                           "xsaveopt",
                           "adx",
                           "avx2",
                           "avx",
                           "bmi2",
                           "bmi1",
                           "abm",
                           "f16c",
                           "fma",
                           "movbe",
                           "xsave",
                           "rdrand",
                           "aes",
                           "pclmulqdq",
                           "sse4a",
                           "fsgsbase",
                           "sse4_2",
                           "sse4_1",
                           "ssse3",
                           "sse3",
                           "cx16",
                           "lahf_lm",
                           "popcnt",
                           "sse2",
                           "sse",
                           "mmx"}) {
    CAPTURE(flag);
    const auto found = find_capability(flag);
    REQUIRE(found.has_value());
    CHECK(row(*found).property == "x86_64 :: " + std::string(flag) + " :: on");
  }
}

TEST_CASE("the levels are those of the psABI and disjoint") {
  const std::map<unsigned, std::size_t> sizes{{1, 9}, {2, 7}, {3, 9}, {4, 5}};
  std::set<Capability> seen;
  for (const auto& [level, size] : sizes) {
    CHECK(x86_64_level(level).size() == size);
    for (const Capability each : x86_64_level(level)) CHECK(seen.insert(each).second);
  }
  CHECK(x86_64_level(0).empty());
  CHECK(x86_64_level(5).empty());
}
