#include "binaries/offload_bundle.h"

#include <algorithm>
#include <cstdlib>
#include <random>

#include <doctest/doctest.h>

#include "binaries/binary_scan.h"
#include "tests/binaries/made_code.h"

namespace axle::builder {
namespace {

using namespace testing;

const std::vector<std::string> ids = {
    "host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
    "hipv4-amdgcn-amd-amdhsa--gfx11-generic", "hipv4-amdgcn-amd-amdhsa--gfx1100"};

axle::binaries::OffloadBundles read(const std::string& bytes,
                                    const axle::binaries::BundleLimits& limits = {}) {
  const auto source = wheel::memory_source(bytes);
  const auto found = axle::binaries::read_offload_bundles(*source, 0, bytes.size(), limits);
  REQUIRE(found.has_value());
  return *found;
}

std::vector<std::string> targets(const axle::binaries::OffloadBundles& found) {
  std::vector<std::string> list;
  for (const axle::binaries::BundleEntry& entry : found.entries) list.push_back(entry.target);
  return list;
}

const std::vector<std::string> expected = {"gfx11-generic", "gfx1100", "gfx942:sramecc+:xnack-"};

TEST_CASE("bundle ids: kind, triple and target, with dashes in the target") {
  const axle::binaries::BundleEntry entry = axle::binaries::parse_bundle_id(ids[1]);
  CHECK(entry.kind == "hipv4");
  CHECK(entry.triple == "amdgcn-amd-amdhsa");
  CHECK(entry.target == "gfx942:sramecc+:xnack-");
  CHECK(axle::binaries::parse_bundle_id(ids[2]).target == "gfx11-generic");
  CHECK(axle::binaries::parse_bundle_id("hip-amdgcn-amd-amdhsa-unknown-gfx90a").target == "gfx90a");
  CHECK(axle::binaries::parse_bundle_id("host-x86_64-unknown-linux--").target.empty());
  CHECK(axle::binaries::parse_bundle_id("").kind.empty());
  CHECK(axle::binaries::parse_bundle_id("hip-\x1b[31m-amd-amdhsa--gfx90a").kind.empty());
}

TEST_CASE("bundles: entries of all, each once, without the host's") {
  std::string section = made_bundle(ids);
  section.resize((section.size() + 4095) / 4096 * 4096, '\0');
  section += made_bundle({ids[0], ids[3]});
  const axle::binaries::OffloadBundles found = read(section);
  CHECK(found.bundles == 2);
  CHECK(found.stopped.empty());
  CHECK(targets(found) == expected);
}

TEST_CASE("bundles: what is broken or too much is said") {
  std::string bytes = made_bundle(ids);
  CHECK(read(bytes.substr(0, bytes.size() - 1)).stopped == "a bundle's table is damaged");
  CHECK(read(bytes + "no bundle at all").stopped == "bytes that are not a bundle follow");
  std::string many = bytes;
  const std::uint64_t count = ~0ULL;
  std::memcpy(many.data() + 24, &count, sizeof(count));
  CHECK(read(many).stopped == "a bundle's table is damaged");
  CHECK(read(bytes + bytes, {1, 1}).stopped == "only the first 1 bundles are read");
  CHECK(read("CCOB\x07").stopped == "the header of a compressed bundle is unknown");
}

TEST_CASE("bundles: no input crashes the reader") {
  std::mt19937 random(11);
  const std::string sound = made_bundle(ids, 16);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = sound.substr(0, 400);
    for (int i = 0; i < 4; ++i)
      bytes[24 + random() % (bytes.size() - 24)] = static_cast<char>(random());
    (void)read(bytes);
  }
}

TEST_CASE("bundles: clang's own, plain and compressed, are read as they were made") {
  if (std::system("clang-offload-bundler-19 --version > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: there is no clang-offload-bundler-19 here");
    return;
  }
  const Scratch scratch;
  std::string code;
  std::mt19937 random(3);
  for (int i = 0; i < 300'000; ++i) code += static_cast<char>(random());
  scratch.write("code", code);
  const auto bundle = [&](const std::string& flags) {
    output_of("clang-offload-bundler-19 -type=o -bundle-align=4096 -targets=" + ids[0] + "," +
              ids[1] + "," + ids[2] + "," + ids[3] +
              " -input=/dev/null -input=" + scratch.at("code") + " -input=" + scratch.at("code") +
              " -input=" + scratch.at("code") + " -output=" + scratch.at("out") + " " + flags +
              " 2>&1");
    return read_all(scratch.at("out"));
  };
  CHECK(targets(read(bundle(""))) == expected);
  const std::string packed = bundle("-compress");
  REQUIRE(packed.starts_with("CCOB"));
  std::string section = packed;
  section.resize((section.size() + 4095) / 4096 * 4096, '\0');
  section += packed;
  const std::string library = made_library(scratch, "libhip.so", ".hip_fatbin", section);
  const auto facts = axle::binaries::scan_binary_file(library);
  REQUIRE(facts.has_value());
  if (facts->hip.stopped.contains("libzstd")) {
    MESSAGE("part skipped: there is no libzstd here");
    return;
  }
  CHECK(facts->hip.bundles == 2);
  CHECK(facts->hip.compressed == 2);
  CHECK(targets(facts->hip) == expected);
  CHECK(facts->unread.empty());
}

}  // namespace
}  // namespace axle::builder
