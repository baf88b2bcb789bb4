#include "binaries/cut/library_cut.h"

#include <doctest/doctest.h>

#include "binaries/cut/bundle_cut.h"
#include "tests/binaries/made_code.h"
#include "tests/binaries/made_elf.h"

namespace axle::binaries {
namespace {

using namespace testing;
using builder::testing::cubin;
using builder::testing::made_bundle;
using builder::testing::made_fatbin;
using builder::testing::MadeCode;

constexpr MadeCode small{.kind = cubin, .architecture = 90, .payload = 3000};
constexpr MadeCode large{.kind = cubin, .architecture = 80, .payload = 20'000};

Result<CutLibrary> cut(const std::string& file) {
  return cut_cuda_library(file, {90, false, false}, "lib.so");
}

/// Of what is not code, its pointers included, every byte is where it was.
void check_rest(const MadeElf& elf, std::string_view file) {
  std::string before = loaded(elf.bytes);
  std::string after = loaded(file);
  REQUIRE(!before.empty());
  REQUIRE(after.size() == before.size());
  const auto hide = [&](std::uint64_t at, std::uint64_t size) {
    for (std::string* memory : {&before, &after}) memory->replace(at, size, std::string(size, 'x'));
  };
  hide(0, MadeElf::relocations_at);  // the headers
  for (std::size_t i = 0; i < elf.code.size(); ++i)
    hide(elf.sections[i + 1].sh_addr, elf.sections[i + 1].sh_size);
  for (std::size_t i = 0; i < elf.pointers.size(); ++i) {
    hide(elf.record_at(i) + 8, 8);
    hide(MadeElf::relocations_at + i * sizeof(Elf64_Rela) + offsetof(Elf64_Rela, r_addend), 8);
  }
  CHECK(before == after);
  const auto header = record_of<Elf64_Ehdr>(file, 0);
  REQUIRE(header.e_shnum == elf.sections.size());
  for (std::size_t i = elf.code.size() + 1; i < elf.sections.size(); ++i) {
    const auto now = record_of<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
    const Elf64_Shdr& old = elf.sections[i];
    CHECK(now.sh_addr == old.sh_addr);
    REQUIRE(now.sh_size == old.sh_size);
    if (old.sh_type == SHT_STRTAB || old.sh_name == 12)
      CHECK(file.substr(now.sh_offset, now.sh_size) ==
            std::string_view(elf.bytes).substr(old.sh_offset, old.sh_size));
  }
}

/// Both the word in memory and the relocation that fills it lead to `content`.
void check_pointer(const MadeElf& elf, std::string_view file, std::size_t pointer,
                   const std::string& content) {
  const std::string memory = loaded(file);
  const auto to = record_of<std::uint64_t>(memory, elf.record_at(pointer) + 8);
  const auto rela =
      record_of<Elf64_Rela>(memory, MadeElf::relocations_at + pointer * sizeof(Elf64_Rela));
  CHECK(static_cast<std::uint64_t>(rela.r_addend) == to);
  REQUIRE(to < memory.size());
  CHECK(memory.substr(to, content.size()) == content);
}

void check_all(MadeElf& elf, std::size_t more_segments) {
  const std::string before = elf.made();
  const auto done = cut(before);
  REQUIRE(done.has_value());
  check_rest(elf, done->bytes);
  for (std::size_t i = 0; i < elf.pointers.size(); ++i)
    check_pointer(elf, done->bytes, i, made_fatbin({small}));
  CHECK(segments_of(done->bytes).size() == elf.segments.size() + more_segments);
  CHECK(done->counts.removed == elf.pointers.size());
  // Less than two pages of each section remain.
  CHECK(before.size() - done->bytes.size() >= elf.code.size() * (20'000 - 2 * 4096));
}

void check_refused(MadeElf& elf, std::string_view why) {
  const auto done = cut(elf.made());
  REQUIRE(!done.has_value());
  CHECK(done.error().kind == ErrorKind::unsupported);
  CHECK_MESSAGE(done.error().message.find(why) != std::string::npos, done.error().message);
}

MadeElf one_section() { return {.code = {made_fatbin({large, small})}, .pointers = {{0, 0}}}; }

TEST_CASE("cut libraries: what follows on the code stays at its address") {
  MadeElf elf = one_section();
  check_all(elf, 1);
}

TEST_CASE("cut libraries: code at the end of its segment needs no other segment") {
  MadeElf elf = one_section();
  elf.tail.clear();
  check_all(elf, 0);
}

TEST_CASE("cut libraries: containers move to the beginning of their section, several sections") {
  const std::string first = made_fatbin({large, small});
  MadeElf elf{.code = {first + made_fatbin({small, large}), first},
              .pointers = {{0, 0}, {0, first.size()}, {1, 0}}};
  check_all(elf, 2);
  elf.tail.clear();
  check_all(elf, 1);
}

TEST_CASE("cut libraries: pages of 2 MiB") {
  MadeElf elf = one_section();
  elf.page = 2 << 20;
  check_all(elf, 1);
  elf.tail.clear();
  check_all(elf, 0);
}

TEST_CASE("cut libraries: notes, thread-local data and read-only data behind the code") {
  MadeElf elf = one_section();
  elf.last = [](MadeElf& made) {
    const Elf64_Shdr& tail = made.sections[2];
    made.segments.push_back({PT_NOTE, PF_R, tail.sh_offset, tail.sh_addr, 0, 64, 64, 4});
    const Elf64_Phdr data = made.segments[1];
    made.segments.push_back({PT_TLS, PF_R, data.p_offset, data.p_vaddr, 0, 16, 32, 8});
    made.segments.push_back({PT_GNU_RELRO, PF_R, data.p_offset, data.p_vaddr, 0, 80, 80, 1});
  };
  const auto done = cut(elf.made());
  REQUIRE(done.has_value());
  check_rest(elf, done->bytes);
  std::size_t found = 0;
  for (const Elf64_Phdr& now : segments_of(done->bytes)) {
    for (const Elf64_Phdr& old : elf.segments) {
      if (now.p_type == PT_LOAD || now.p_type != old.p_type) continue;
      ++found;
      CHECK(now.p_vaddr == old.p_vaddr);
      CHECK(now.p_filesz == old.p_filesz);
      // As a debugger or `readelf -n` finds them.
      CHECK(done->bytes.substr(now.p_offset, now.p_filesz) ==
            elf.bytes.substr(old.p_offset, old.p_filesz));
    }
  }
  CHECK(found == 4);
}

TEST_CASE("cut libraries: code that nothing points at stays whole, with all before it") {
  const std::string first = made_fatbin({large, small});
  MadeElf elf{.code = {first + first + first}, .pointers = {{0, 0}, {0, 2 * first.size()}}};
  const auto done = cut(elf.made());
  REQUIRE(done.has_value());
  check_rest(elf, done->bytes);
  CHECK(done->counts.fixed == 2);
  CHECK(done->counts.removed == 1);
  check_pointer(elf, done->bytes, 0, first + first);
  check_pointer(elf, done->bytes, 1, made_fatbin({small}));
}

TEST_CASE("cut libraries: layouts that cannot be changed") {
  MadeElf elf = one_section();
  SUBCASE("a note among the code") {
    elf.last = [](MadeElf& made) {
      const Elf64_Shdr& code = made.sections[1];
      made.segments.push_back({PT_NOTE, PF_R, code.sh_offset, code.sh_addr, 0, 64, 64, 4});
    };
    check_refused(elf, "another segment");
  }
  SUBCASE("section headers among the code") {
    elf.last = [](MadeElf& made) { made.header.e_shoff = made.sections[1].sh_offset + 8192; };
    check_refused(elf, "tables overlap");
  }
  SUBCASE("two segments with the code") {
    elf.last = [](MadeElf& made) { made.segments.push_back(made.segments[0]); };
    check_refused(elf, "segments overlap");
  }
  SUBCASE("no segment with the code") {
    elf.last = [](MadeElf& made) {
      Elf64_Phdr& first = made.segments[0];
      first.p_filesz = first.p_memsz = made.sections[1].sh_offset;
    };
    check_refused(elf, "in no segment");
  }
  SUBCASE("another section over the code") {
    elf.last = [](MadeElf& made) { made.sections[2].sh_offset -= 8000; };
    check_refused(elf, "sections overlap");
  }
  SUBCASE("the same code twice") {
    elf.last = [](MadeElf& made) { made.sections.push_back(made.sections[1]); };
    check_refused(elf, "overlap");
  }
  SUBCASE("a pointer into the middle") {
    elf.pointers.push_back({0, 16});
    check_refused(elf, "middle");
  }
}

TEST_CASE("cut libraries: bytes that many sections claim are not cut once for each") {
  MadeElf elf{.code = {made_fatbin({large, small})}, .pointers = {{0, 0}}};
  SUBCASE("one inside of another") {
    elf.last = [](MadeElf& made) {
      made.sections.push_back(made.sections[1]);
      made.sections.back().sh_offset += 64;
      made.sections.back().sh_size = 10;
    };
    check_refused(elf, "sections of GPU code overlap");
  }
  SUBCASE("very many") {
    elf.last = [](MadeElf& made) { made.sections.resize(30'000, made.sections[1]); };
    check_refused(elf, "too many sections");
  }
}

TEST_CASE("cut libraries: relocations of an unknown architecture are no pointers") {
  MadeElf elf = one_section();
  elf.last = [](MadeElf& made) { made.header.e_machine = EM_RISCV; };
  const auto done = cut(elf.made());
  REQUIRE(done.has_value());
  CHECK(done->bytes == elf.bytes);
  CHECK(done->counts.fixed == 1);
}

TEST_CASE("cut bundles: code objects that lie over one another are not multiplied") {
  const std::string own = "hipv4-amdgcn-amd-amdhsa--gfx942";
  std::string bytes = made_bundle({own, own, "hipv4-amdgcn-amd-amdhsa--gfx90a"}, 8192);
  CHECK(cut_bundles(bytes, "gfx942").has_value());
  const std::size_t second = 32 + 24 + own.size();  // whose offset becomes that of the first
  const std::uint64_t first = record_of<std::uint64_t>(bytes, 32);
  std::memcpy(bytes.data() + second, &first, sizeof(first));
  std::memcpy(bytes.data() + second + 24 + own.size(), &first, sizeof(first));
  const auto done = cut_bundles(bytes, "gfx942");
  REQUIRE(!done.has_value());
  CHECK(done.error().kind == ErrorKind::malformed);
  CHECK(done.error().message.find("over one another") != std::string::npos);
}

TEST_CASE("cut bundles: padding does not make a section longer") {
  std::vector<std::string> ids(50, "hipv4-amdgcn-amd-amdhsa--gfx942");
  ids.emplace_back("hipv4-amdgcn-amd-amdhsa--gfx90a");
  const auto done = cut_bundles(made_bundle(ids, 1), "gfx942");
  REQUIRE(!done.has_value());
  CHECK(done.error().kind == ErrorKind::unsupported);
}

}  // namespace
}  // namespace axle::binaries
