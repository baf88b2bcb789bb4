#include "binaries/cuda_fatbin.h"

#include <algorithm>
#include <cstdlib>
#include <random>

#include <doctest/doctest.h>

#include "binaries/binary_scan.h"
#include "tests/binaries/made_code.h"

namespace axle::builder {
namespace {

using namespace testing;

axle::binaries::CudaFatbins read(const std::string& bytes,
                                 const axle::binaries::FatbinLimits& limits = {}) {
  const auto source = wheel::memory_source(bytes);
  const auto found = axle::binaries::read_cuda_fatbins(*source, 0, bytes.size(), limits);
  REQUIRE(found.has_value());
  return *found;
}

std::vector<std::string> names(const axle::binaries::CudaGroup& group) {
  std::vector<std::string> list;
  for (const axle::binaries::CudaCode& code : group.codes)
    list.push_back(axle::binaries::render_cuda_code(code));
  return list;
}

TEST_CASE("fatbins: each kind of code, target and compression by its header alone") {
  const axle::binaries::CudaFatbins found = read(made_fatbin({{cubin, 80},
                                                              {cubin, 90, flag_a},
                                                              {cubin, 100, flag_f | flag_zstd},
                                                              {ptx, 120, flag_zstd, 8, 7},
                                                              {8, 90}}));
  REQUIRE(found.groups.size() == 1);
  CHECK(found.stopped.empty());
  CHECK(names(found.groups[0]) ==
        std::vector<std::string>{"sm_80", "sm_90a", "sm_100f", "compute_120", "lto_90"});
  const axle::binaries::CudaCode& code = found.groups[0].codes[3];
  CHECK(code.packing == axle::binaries::CudaPacking::zstd);
  CHECK(found.groups[0].codes[0].packing == axle::binaries::CudaPacking::none);
  const axle::binaries::CudaFatbins old = read(made_fatbin({{cubin, 80, flag_lz4}}));
  CHECK(old.groups[0].codes[0].packing == axle::binaries::CudaPacking::lz4);
  CHECK(code.major == 8);
  CHECK(code.minor == 7);
}

TEST_CASE("fatbins: many in one section are grouped, whatever lies between them") {
  std::string section;
  for (int i = 0; i < 100; ++i) {
    section += made_fatbin({{cubin, 80}, {cubin, 90}});
    section.append(i % 3 * 8, '\0');
  }
  section += made_fatbin({{cubin, 90, flag_a}});
  section.append(40, '\0');
  const axle::binaries::CudaFatbins found = read(section);
  CHECK(found.fatbins == 101);
  REQUIRE(found.groups.size() == 2);
  CHECK(found.groups[0].fatbins == 100);
  CHECK(found.groups[1].fatbins == 1);
  CHECK(found.stopped.empty());
}

TEST_CASE("fatbins: limits end the walk and are said") {
  std::string section;
  for (std::uint32_t i = 0; i < 10; ++i) section += made_fatbin({{cubin, 50 + i}});
  CHECK(read(section, {4, 1024}).stopped == "only the first 4 code objects are read");
  const axle::binaries::CudaFatbins few = read(section, {100, 3});
  CHECK(few.groups.size() == 3);
  CHECK_FALSE(few.stopped.empty());
}

TEST_CASE("fatbins: what is cut off, too long or something else is said, not guessed") {
  const std::string one = made_fatbin({{cubin, 90}});
  CHECK(read(one.substr(0, one.size() - 8)).stopped == "a fatbin is longer than its section");
  std::string long_entry = one;
  const std::uint64_t huge = ~0ULL - 63;
  std::memcpy(long_entry.data() + 24, &huge, sizeof(huge));
  CHECK(read(long_entry).stopped == "a code object is longer than its fatbin");
  std::string no_header = one;
  std::memset(no_header.data() + 20, 0, 4);  // a header of no size would never end
  CHECK(read(no_header).stopped == "a code object is longer than its fatbin");
  CHECK(read(one + "something else here").stopped == "bytes that are not a fatbin follow");
  CHECK(read("").fatbins == 0);
  CHECK(read(std::string(64, '\0')).stopped.empty());
}

TEST_CASE("fatbins: no input crashes the reader") {
  std::mt19937 random(7);
  const std::string sound = made_fatbin({{cubin, 80}, {ptx, 90, 0, 8, 0}}) + made_fatbin({{cubin}});
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = sound;
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    (void)read(bytes);
  }
}

TEST_CASE("fatbins: those of nvcc are read as requested from it") {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: there is no nvcc here");
    return;
  }
  const Scratch scratch;
  scratch.write("k.cu",
                "__global__ void k(float* p) { p[0] = p[1]; }\n"
                "void f(float* p) { k<<<1, 1>>>(p); }\n");
  const auto compile = [&](const std::string& flags) {
    output_of("nvcc -shared -Xcompiler -fPIC -o " + scratch.at("k.so") + " " + flags + " " +
              scratch.at("k.cu") + " 2>&1");
    const auto facts = axle::binaries::scan_binary_file(scratch.at("k.so"));
    REQUIRE(facts.has_value());
    CHECK(facts->unread.empty());
    std::vector<std::string> all;
    for (const axle::binaries::CudaGroup& group : facts->cuda.groups) {
      for (const std::string& name : names(group)) {
        if (std::ranges::find(all, name) == all.end()) all.push_back(name);
      }
    }
    std::ranges::sort(all);
    return all;
  };
  // LZ4 for speed, zstd for size (nvcc 13 leaves code alone that would not shrink).
  const auto packing = [&](const std::string& mode) {
    compile("-gencode arch=compute_80,code=compute_80 --compress-mode=" + mode);
    axle::binaries::CudaPacking most = axle::binaries::CudaPacking::none;
    const auto facts = axle::binaries::scan_binary_file(scratch.at("k.so"));
    for (const axle::binaries::CudaGroup& group : facts->cuda.groups)
      for (const axle::binaries::CudaCode& code : group.codes) most = std::max(most, code.packing);
    return most;
  };
  const std::string version = output_of("nvcc --version");
  if (output_of("nvcc --help").contains("--compress-mode")) {
    CHECK(packing("none") == axle::binaries::CudaPacking::none);
    CHECK(packing("speed") == axle::binaries::CudaPacking::lz4);
    CHECK(packing("size") == axle::binaries::CudaPacking::zstd);
  }
  const bool first_with_family = version.contains("release 13") || version.contains("release 12.9");
  // nvcc's stub for device linking, for the oldest architecture that it knows, is not among them.
  CHECK(compile("-gencode arch=compute_80,code=sm_80 "
                "-gencode arch=compute_90,code=[sm_90,compute_90]") ==
        std::vector<std::string>{"compute_90", "sm_80", "sm_90"});
  const auto specific = compile("-gencode arch=compute_90a,code=sm_90a");
  CHECK(std::ranges::find(specific, "sm_90a") != specific.end());
  if (!first_with_family) {
    MESSAGE("part skipped: this nvcc knows no family-specific targets");
    return;
  }
  const auto family = compile("-gencode arch=compute_100f,code=sm_100f");
  CHECK(std::ranges::find(family, "sm_100f") != family.end());
}

}  // namespace
}  // namespace axle::builder
