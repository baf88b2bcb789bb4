#include "binaries/binary_scan.h"

#include <cstdlib>
#include <fstream>
#include <random>

#include <doctest/doctest.h>
#include <elf.h>
#include <unistd.h>

#include "binaries/cut/zstd_frame.h"
#include "tests/binaries/made_code.h"

namespace axle::builder {
namespace {

using namespace testing;

std::string machine() {
  std::string name = output_of("uname -m");
  while (name.ends_with('\n')) name.pop_back();
  return name;
}

axle::binaries::BinaryFacts scan(const std::string& path) {
  const auto facts = axle::binaries::scan_binary_file(path);
  REQUIRE_MESSAGE(facts.has_value(), facts.error().message);
  return *facts;
}

std::string library_of(const Scratch& scratch, const std::string& name,
                       const std::string& arguments) {
  return made_library(scratch, name, ".axle_test", "content", arguments);
}

TEST_CASE("scan: architecture, names, folders and libraries as readelf has them") {
  const Scratch scratch;
  const std::string one = library_of(scratch, "libone.so.1", "");
  const std::string path =
      library_of(scratch, "libtwo.so.2",
                 "-Wl,--no-as-needed " + one +
                     " -lc -Wl,-rpath,'$ORIGIN/../lib:/opt/x' -Wl,--disable-new-dtags");
  const axle::binaries::BinaryFacts facts = scan(path);
  CHECK(facts.architecture == machine());
  CHECK(facts.soname == "libtwo.so.2");
  CHECK(facts.needed == std::vector<std::string>{"libone.so.1", "libc.so.6"});
  CHECK(facts.rpath == std::vector<std::string>{"$ORIGIN/../lib", "/opt/x"});
  CHECK(facts.runpath.empty());
  CHECK_FALSE(facts.has_gpu_code());
  const std::string oracle = output_of("readelf -dW " + path);
  CHECK(oracle.contains("Library rpath: [$ORIGIN/../lib:/opt/x]"));
  CHECK(oracle.contains("[libone.so.1]"));
  const axle::binaries::BinaryFacts other =
      scan(library_of(scratch, "libthree.so", "-Wl,-rpath,/opt/y -Wl,--enable-new-dtags"));
  CHECK(other.runpath == std::vector<std::string>{"/opt/y"});
}

TEST_CASE("scan: the level that the loader asks for, as readelf has it") {
  if (machine() != "x86_64") {
    MESSAGE("skipped: notes of x86-64 levels are made on x86-64");
    return;
  }
  const Scratch scratch;
  const axle::binaries::BinaryFacts facts =
      scan(library_of(scratch, "libv3.so", "-Wl,-z,x86-64-v3"));
  CHECK(facts.isa.needed.back() == "x86-64-v3");
  CHECK(output_of("readelf -nW " + scratch.at("libv3.so")).contains("x86-64-v3"));
  CHECK(scan(library_of(scratch, "libplain.so", "")).isa.needed.empty());
}

TEST_CASE("scan: code for GPUs of every vendor is found by its section") {
  const Scratch scratch;
  const axle::binaries::BinaryFacts cuda = scan(made_library(
      scratch, "libcuda_code.so", ".nv_fatbin", made_fatbin({{cubin, 90}, {ptx, 90, 0, 8, 4}})));
  REQUIRE(cuda.cuda.groups.size() == 1);
  CHECK(cuda.cuda.groups[0].codes.size() == 2);
  const axle::binaries::BinaryFacts large =
      scan(made_library(scratch, "liblarge.so", ".ldata",
                        "four" + std::string(100, 'x') + made_fatbin({{cubin, 80}})));
  CHECK(large.cuda.fatbins == 0);  // nothing says that it is a CUDA library
  scratch.write("more.bin", made_fatbin({{cubin, 120}}));
  scratch.write("more.s", "  .section .nv_fatbin,\"a\",@progbits\n  .balign 8\n  .incbin \"" +
                              scratch.at("more.bin") +
                              "\"\n  .section .note.GNU-stack,\"\",@progbits\n");
  const axle::binaries::BinaryFacts both =
      scan(made_library(scratch, "libboth.so", ".ldata",
                        std::string(104, 'x') + made_fatbin({{cubin, 80}}), scratch.at("more.s")));
  CHECK(both.cuda.fatbins == 2);
  CHECK(both.cuda.groups.size() == 2);
  CHECK(both.unread.empty());
  const axle::binaries::BinaryFacts hip = scan(made_library(
      scratch, "libhip_code.so", ".hip_fatbin", made_bundle({"hipv4-amdgcn-amd-amdhsa--gfx942"})));
  REQUIRE(hip.hip.entries.size() == 1);
  CHECK(hip.hip.entries[0].target == "gfx942");
  const axle::binaries::BinaryFacts jit = scan(made_library(
      scratch, "libsycl_jit.so", "__CLANG_OFFLOAD_BUNDLE__sycl-spir64", "spir-v would be here"));
  CHECK(jit.sycl.jit);
  CHECK_FALSE(jit.sycl.ahead);
  CHECK(scan(made_library(scratch, "librdc.so", "__nv_relfatbin", made_fatbin({{cubin, 90}})))
            .cuda_relocatable);
}

TEST_CASE("scan: device images of Intel say their devices in archives and notes") {
  const Scratch scratch;
  scratch.write("64.20.1.0", "a");
  scratch.write("64.pvc", "bb");
  scratch.write("generic_ir", "c");
  output_of("cd " + scratch.at("") + " && ar qc devices.a 64.20.1.0 64.pvc generic_ir 2>&1");
  const std::string section = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen-unknown-unknown";
  const axle::binaries::BinaryFacts archive =
      scan(made_library(scratch, "liba.so", section, read_all(scratch.at("devices.a"))));
  CHECK(archive.sycl.ahead);
  CHECK(archive.sycl.jit);
  CHECK(archive.sycl.device_ips == std::vector<std::string>{"20.1.0"});
  CHECK(archive.sycl.products == std::vector<std::string>{"pvc"});

  std::string note;
  put<std::uint32_t>(note, 8);
  put<std::uint32_t>(note, 4);
  put<std::uint32_t>(note, 6);
  note += std::string("IntelGT\0", 8);
  put<std::uint32_t>(note, (12U << 22U) | (60U << 14U) | 7U);
  const std::string image = made_library(scratch, "image.so", ".note.intelgt.compat", note);
  const axle::binaries::BinaryFacts zebin =
      scan(made_library(scratch, "libz.so", section, read_all(image)));
  CHECK(zebin.sycl.device_ips == std::vector<std::string>{"12.60.7"});
  const axle::binaries::BinaryFacts odd =
      scan(made_library(scratch, "libodd.so", section, "what is this?"));
  CHECK(odd.sycl.ahead);
  REQUIRE(odd.unread.size() == 1);
}

TEST_CASE("scan: every device image of a section is read, compressed ones too") {
  const Scratch scratch;
  const auto archive = [&](const std::string& name, const std::string& members) {
    output_of("cd " + scratch.at("") + " && ar qc " + name + " " + members + " 2>&1");
    return read_all(scratch.at(name));
  };
  scratch.write("64.12.60.7", "first");
  scratch.write("64.pvc", "second");
  scratch.write("64.20.1.0", std::string(100'000, 's'));
  const std::string one = archive("one.a", "64.12.60.7 64.pvc");
  const std::string two = archive("two.a", "64.20.1.0");
  const std::string section = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen-unknown-unknown";
  const auto aligned = [](std::string bytes) {
    bytes.resize((bytes.size() + 15) / 16 * 16, '\0');
    return bytes;
  };
  const std::vector<std::string> both{"12.60.7", "20.1.0"};
  const axle::binaries::BinaryFacts plain =
      scan(made_library(scratch, "libplain.so", section, aligned(one) + two));
  CHECK(plain.sycl.device_ips == both);
  CHECK(plain.sycl.products == std::vector<std::string>{"pvc"});
  CHECK(plain.unread.empty());

  const auto frame = axle::binaries::pack_zstd(one);
  if (!frame) {
    MESSAGE("skipped: " << frame.error().message);
    return;
  }
  const std::string frames = aligned(*frame) + *axle::binaries::pack_zstd(two);
  const axle::binaries::BinaryFacts packed =
      scan(made_library(scratch, "libpacked.so", section, frames));
  CHECK(packed.sycl.device_ips == both);
  CHECK_FALSE(packed.sycl.jit);
  CHECK(packed.unread.empty());

  const axle::binaries::BinaryFacts truncated =
      scan(made_library(scratch, "libcut.so", section, frames.substr(0, frames.size() - 5)));
  CHECK(truncated.sycl.device_ips == std::vector<std::string>{"12.60.7"});
  REQUIRE(truncated.unread.size() == 1);
  CHECK(truncated.unread[0].why.contains("truncated"));
  const axle::binaries::BinaryFacts longer =
      scan(made_library(scratch, "liblonger.so", section,
                        *axle::binaries::pack_zstd(aligned(one) + std::string(100, 'x'))));
  REQUIRE(longer.unread.size() == 1);
  CHECK(longer.unread[0].why.contains("behind its end"));
  const axle::binaries::BinaryFacts nested =
      scan(made_library(scratch, "libnested.so", section,
                        *axle::binaries::pack_zstd(*axle::binaries::pack_zstd(two))));
  CHECK(nested.sycl.device_ips.empty());
  REQUIRE(nested.unread.size() == 1);
}

TEST_CASE("scan: a file of many gigabytes costs its headers only") {
  const Scratch scratch;
  // One fatbin with a payload of 6 GiB that is a hole in the file.
  constexpr std::uint64_t payload = 6ULL << 30;
  std::string head = made_fatbin({{cubin, 90}});
  std::string fatbin = head.substr(0, 80);
  const std::uint64_t size = 64 + payload;
  std::memcpy(fatbin.data() + 8, &size, sizeof(size));
  std::memcpy(fatbin.data() + 24, &payload, sizeof(payload));
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_X86_64;
  header.e_type = ET_DYN;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 1;
  header.e_shoff = 64;
  const std::string names = std::string("\0.shstrtab\0.nv_fatbin\0", 22);
  Elf64_Shdr sections[3] = {};
  sections[1] = {1, SHT_STRTAB, 0, 0, 512, names.size(), 0, 0, 1, 0};
  sections[2] = {11, SHT_PROGBITS, 0, 0, 4096, fatbin.size() + payload, 0, 0, 8, 0};
  std::string file(4096, '\0');
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + 64, sections, sizeof(sections));
  std::memcpy(file.data() + 512, names.data(), names.size());
  scratch.write("huge.so", file + fatbin);
  REQUIRE(truncate(scratch.at("huge.so").c_str(),
                   static_cast<off_t>(4096 + fatbin.size() + payload)) == 0);
  const axle::binaries::BinaryFacts facts = scan(scratch.at("huge.so"));
  REQUIRE(facts.cuda.fatbins == 1);
  CHECK(facts.cuda.groups[0].codes[0].architecture == 90);
  CHECK(facts.unread.empty());
  CHECK(facts.size > payload);
  CHECK(facts.bytes_read < 64 * 1024);
}

TEST_CASE("scan: invalid, truncated or corrupted files are errors and nothing worse") {
  const Scratch scratch;
  scratch.write("text.so", "GROUP ( libc.so.6 )");
  CHECK(axle::binaries::scan_binary_file(scratch.at("text.so")).error().kind ==
        ErrorKind::malformed);
  CHECK(axle::binaries::scan_binary_file(scratch.at("none.so")).error().kind ==
        ErrorKind::not_found);
  const std::string path =
      made_library(scratch, "libbent.so", ".nv_fatbin", made_fatbin({{cubin, 80}, {cubin, 90}}));
  const std::string sound = read_all(path);
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = sound;
    // The header, or anything: section headers lie at the end.
    for (int i = 0; i < 3; ++i) {
      const std::size_t range = round % 2 == 0 ? 1024 : bytes.size();
      const std::size_t at =
          round % 3 == 0 ? bytes.size() - 1 - random() % range : random() % range;
      bytes[at] = static_cast<char>(random());
    }
    if (round % 5 == 0) bytes.resize(random() % bytes.size());
    const auto source = wheel::memory_source(bytes);
    (void)axle::binaries::scan_binary(*source, "bent");
  }
}

}  // namespace
}  // namespace axle::builder
