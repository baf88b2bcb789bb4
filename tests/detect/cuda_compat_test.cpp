// Forward compatibility: the ELF note and what it says.
#include "detect/nvidia/cuda_compat.h"

#include <cstring>
#include <string>

#include <doctest/doctest.h>
#include <elf.h>

#include "detect/nvidia/models.h"
#include "foundation/elf/elf_notes.h"

using namespace axle::detect;

namespace {

void append(std::string& bytes, const void* data, std::size_t size) {
  bytes.append(static_cast<const char*>(data), size);
}

/// A note in the gABI's layout.
std::string note(const std::string& owner, const std::string& text) {
  const Elf64_Nhdr header{static_cast<Elf64_Word>(owner.size() + 1),
                          static_cast<Elf64_Word>(text.size()), 1};
  std::string bytes;
  append(bytes, &header, sizeof(header));
  bytes += owner + '\0';
  while (bytes.size() % 4 != 0) bytes += '\0';
  bytes += text;
  while (bytes.size() % 4 != 0) bytes += '\0';
  return bytes;
}

/// An ELF file of one note section and its names.
std::string elf_with(const std::string& notes, const std::string& section) {
  std::string names;
  names += '\0';
  names += section + '\0';
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  header.e_shoff = sizeof(header) + notes.size() + names.size();
  Elf64_Shdr sections[3]{};
  sections[1].sh_type = SHT_NOTE;
  sections[1].sh_name = 1;
  sections[1].sh_offset = sizeof(header);
  sections[1].sh_size = notes.size();
  sections[2].sh_type = SHT_STRTAB;
  sections[2].sh_offset = sizeof(header) + notes.size();
  sections[2].sh_size = names.size();
  std::string file;
  append(file, &header, sizeof(header));
  file += notes + names;
  append(file, sections, sizeof(sections));
  return file;
}

std::optional<std::string> find(const std::string& file) {
  axle::elf::MemoryBytes bytes(file);
  return find_compat_note(bytes);
}

}  // namespace

TEST_CASE("the note of a forward-compatibility library") {
  const std::string text =
      R"({"format":1,"CUDA version":"12.9","driver":[535, 550,570],"device":[1,2,7]})";
  const auto parsed = parse_compat_note(text);
  REQUIRE(parsed.has_value());
  CHECK(parsed->cuda_version == "12.9");
  CHECK(parsed->branches == std::vector<unsigned>{535, 550, 570});
  CHECK(allows_branch(parsed->branches, "550.54.14"));
  CHECK_FALSE(allows_branch(parsed->branches, "545.23.06"));
  CHECK_FALSE(allows_branch(parsed->branches, ""));
}

TEST_CASE("the comma that NVIDIA leaves behind the last member is allowed") {
  const auto parsed = parse_compat_note(R"({"format":1,"CUDA version":"13.2",})");
  REQUIRE(parsed.has_value());
  CHECK(parsed->cuda_version == "13.2");
  CHECK(parsed->branches.empty());
  CHECK(parse_compat_note(std::string("{\"CUDA version\":\"13.2\",\"driver\":[570,],}\n\0", 40))
            .has_value());
}

TEST_CASE("notes that are none") {
  for (const char* text :
       {"", "{", "{}", "[]", R"({"format":1})", R"({"format":2,"CUDA version":"12.9"})",
        R"({"CUDA version":12})", R"({"CUDA version":"twelve"})", R"({"CUDA version":"12.9"} x)",
        R"({"CUDA version":"12.9" "driver":[1]})", R"({"CUDA version":"12.9","driver":[1 2]})",
        R"({"CUDA version":"12.9","driver":[-1]})", R"({"CUDA version":"12.9","x":{"y":1}})",
        R"({"CUDA version":"12\u002e9"})", R"({"CUDA version":"12345678901234567.9"})"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_compat_note(text).has_value());
  }
}

TEST_CASE("folders of compat packages") {
  CHECK(is_compat_path("/usr/local/cuda/compat/libcuda.so.1"));
  CHECK(is_compat_path("/usr/local/cuda-12.8/compat/lib.real/libcuda.so.570.26"));
  CHECK(is_compat_path("/usr/local/cuda/compat_orin/libcuda.so.1"));
  CHECK_FALSE(is_compat_path("/usr/lib/x86_64-linux-gnu/libcuda.so.1"));
  CHECK_FALSE(is_compat_path("/opt/x/compat"));
  CHECK_FALSE(is_compat_path("libcuda.so.1"));
}

TEST_CASE("the note is found in an ELF file, whatever else is there") {
  const std::string wanted = R"({"format":1,"CUDA version":"12.9"})";
  const std::string owner(compat_note_owner);
  const std::string section(compat_note_section);
  CHECK(find(elf_with(note(owner, wanted), section)) == wanted);
  CHECK(find(elf_with(note("GNU", "abc") + note(owner, wanted), section)) == wanted);
  CHECK_FALSE(find(elf_with(note("GNU", "abc"), section)).has_value());
  CHECK_FALSE(find(elf_with(note(owner, wanted), ".note.gnu.build-id")).has_value());
}

TEST_CASE("a truncated or corrupted ELF file has no note and does no harm") {
  const std::string file = elf_with(note(std::string(compat_note_owner), "{\"format\":1}"),
                                    std::string(compat_note_section));
  for (std::size_t size = 0; size < file.size(); ++size) {
    static_cast<void>(find(file.substr(0, size)));
  }
  CHECK_FALSE(find(file.substr(0, file.size() - 1)).has_value());
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string bent = file;
      bent[at] = value;
      static_cast<void>(find(bent));
    }
  }
  std::string other = file;
  other[EI_CLASS] = ELFCLASS32;
  CHECK_FALSE(find(other).has_value());
}

TEST_CASE("files of this machine are read without being loaded") {
  CHECK_FALSE(read_compat_note("/proc/self/exe").has_value());
  CHECK_FALSE(read_compat_note("/nowhere").has_value());
  CHECK_FALSE(read_compat_note("/dev/null").has_value());
  // What every GNU toolchain writes shows that the reader reads.
  axle::elf::FileBytes own("/proc/self/exe", largest_driver_table);
  const auto abi = axle::elf::find_note(own, ".note.ABI-tag", "GNU");
  REQUIRE(abi.has_value());
  CHECK(abi->size() == 16);
}

TEST_CASE("NVIDIA's chips by PCI id do not overlap") {
  CHECK(chip_of(0x2330) == "Hopper (GH100)");
  CHECK(chip_of(0x1B06) == "Pascal (GP102)");
  CHECK(chip_of(0x2B85) == "Blackwell (GB202)");
  CHECK(chip_of(0x0001).empty());
  for (std::size_t i = 1; i < std::size(nvidia_chips); ++i) {
    CHECK(nvidia_chips[i - 1].last < nvidia_chips[i].first);
    CHECK(nvidia_chips[i].first <= nvidia_chips[i].last);
  }
}
