// The ELF reader: as readelf has it, and nothing worse than a problem for what is damaged.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <set>

#include <doctest/doctest.h>
#include <elf.h>

#include "foundation/elf/elf_dynamic.h"
#include "foundation/elf/elf_notes.h"
#include "foundation/elf/elf_symbols.h"
#include "foundation/elf/elf_tables.h"
#include "tests/support/scratch.h"

namespace axle::elf {
namespace {

using builder::testing::output_of;
using builder::testing::read_all;
using builder::testing::Scratch;

std::string machine_name() {
  std::string name = output_of("uname -m");
  while (name.ends_with('\n')) name.pop_back();
  return name;
}

// "Shared library: [libc.so.6]", "File: libc.so.6", "Name: GLIBC_2.4  Flags: none  Version: 3" and
// "Index: 3  Cnt: 2  Name: GLIBCXX_3.4.1", as readelf prints them.
std::multiset<std::string> readelf_facts(const std::string& path) {
  std::multiset<std::string> facts;
  std::istringstream lines(output_of("LC_ALL=C readelf -dVW '" + path + "' 2>/dev/null"));
  std::string part;
  std::string file;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Version ")) part = line.substr(8, line.find(' ', 8) - 8);
    const auto between = [&](const std::string& from, const std::string& to) {
      const std::size_t begin = line.find(from) + from.size();
      return line.substr(begin, line.find(to, begin) - begin);
    };
    if (line.find("(NEEDED)") != std::string::npos) facts.insert("needs " + between("[", "]"));
    if (line.find("(SONAME)") != std::string::npos) facts.insert("is " + between("[", "]"));
    if (line.contains("File: ")) file = between("File: ", " ");
    if (part == "needs" && line.contains("Name: ")) {
      facts.insert(file + " " + between("Name: ", " ") + " " + between("Flags: ", " ") + " " +
                   between("Version: ", " "));
    }
    if (part == "definition" && line.contains("Cnt: ") && line.contains("Name: "))
      facts.insert("defines " + between("Name: ", " "));
  }
  return facts;
}

std::multiset<std::string> our_facts(Bytes& bytes) {
  std::multiset<std::string> facts;
  const auto tables = read_tables(bytes);
  REQUIRE(tables.has_value());
  const auto dynamic = read_dynamic(bytes, *tables);
  REQUIRE(dynamic.has_value());
  CHECK(dynamic->whole());
  for (const std::string& library : dynamic->names(DT_NEEDED)) facts.insert("needs " + library);
  for (const std::string& name : dynamic->names(DT_SONAME)) facts.insert("is " + name);
  const auto needs = read_version_needs(bytes, *tables, *dynamic);
  REQUIRE(needs.has_value());
  for (const VersionNeed& need : *needs) {
    facts.insert(need.library + " " + need.version + (need.weak ? " WEAK " : " none ") +
                 std::to_string(need.index));
  }
  const auto definitions = read_version_definitions(bytes, *tables, *dynamic);
  REQUIRE(definitions.has_value());
  for (const std::string& version : *definitions) facts.insert("defines " + version);
  return facts;
}

// "fopen@GLIBC_2.2.5" of what is needed and strong, by readelf.
std::multiset<std::string> readelf_undefined(const std::string& path) {
  std::multiset<std::string> symbols;
  std::istringstream lines(output_of("LC_ALL=C readelf --dyn-syms -W '" + path + "' 2>/dev/null"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, value, size, type, bind, visibility, place, name;
    words >> number >> value >> size >> type >> bind >> visibility >> place >> name;
    if (place == "UND" && bind == "GLOBAL" && visibility == "DEFAULT" && !name.empty())
      symbols.insert(name);
  }
  return symbols;
}

std::multiset<std::string> our_undefined(Bytes& bytes) {
  std::multiset<std::string> symbols;
  const auto tables = read_tables(bytes);
  const auto needs = read_version_needs(bytes, *tables, *read_dynamic(bytes, *tables));
  const auto visited = visit_dynamic_symbols(bytes, *tables, [&](const DynamicSymbol& symbol) {
    if (symbol.defined || symbol.weak) return;
    const auto need = std::ranges::find(*needs, symbol.version, &VersionNeed::index);
    const bool versioned = symbol.version != 0 && need != needs->end();
    symbols.insert(std::string(symbol.name) + (versioned ? "@" + need->version : ""));
  });
  REQUIRE(visited.has_value());
  return symbols;
}

std::string made_library(const Scratch& scratch) {
  scratch.write("damage.c", "#include <stdio.h>\nvoid PyInit_f(void) { puts(\"\"); }");
  output_of("cc -shared -fPIC -O1 -Wl,-soname,libdamage.so -o " + scratch.at("libdamage.so") + " " +
            scratch.at("damage.c") + " 2>&1");
  return scratch.at("libdamage.so");
}

TEST_CASE("ELF facts equal those of readelf on the libraries of this machine") {
  if (std::system("readelf --version >/dev/null 2>&1") != 0) {
    std::cout << "SKIP: needs readelf (binutils)\n";
    return;
  }
  const std::string folder = "/usr/lib/" + machine_name() + "-linux-gnu";
  if (!std::filesystem::is_directory(folder)) {
    std::cout << "SKIP: no folder of libraries at " << folder << "\n";
    return;
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.find(".so.") != std::string::npos) {
      files.push_back(entry.path().string());
    }
  }
  std::ranges::sort(files);
  unsigned compared = 0;
  for (std::size_t i = 0; i < files.size() && compared < 40; i += 1 + files.size() / 40) {
    const std::string content = read_all(files[i]);
    if (!is_elf(content)) continue;
    MemoryBytes bytes(content);
    CHECK_MESSAGE(our_facts(bytes) == readelf_facts(files[i]), files[i]);
    CHECK_MESSAGE(our_undefined(bytes) == readelf_undefined(files[i]), files[i]);
    ++compared;
  }
  CHECK(compared >= 5);
}

TEST_CASE("a stripped section table hides no library, separate debug information is no problem") {
  const Scratch scratch;
  const std::string path = made_library(scratch);
  std::string content = read_all(path);
  MemoryBytes sound(content);
  const auto expected = our_facts(sound);
  CHECK(expected.contains("is libdamage.so"));
  CHECK(defines_symbol(sound, *read_tables(sound), "PyInit_").value());
  CHECK_FALSE(defines_symbol(sound, *read_tables(sound), "PyInit_g").value());
  Elf64_Ehdr header;
  std::memcpy(&header, content.data(), sizeof(header));
  header.e_shoff = 0;
  header.e_shnum = header.e_shstrndx = 0;
  std::memcpy(content.data(), &header, sizeof(header));
  MemoryBytes stripped(content);
  CHECK(our_facts(stripped) == expected);
  output_of("objcopy --only-keep-debug " + path + " " + scratch.at("only.debug"));
  FileBytes debug(scratch.at("only.debug"), 16U << 20U);
  CHECK(read_tables(debug).has_value());
}

TEST_CASE("versions that a library defines, and those that another one needs of it") {
  const Scratch scratch;
  scratch.write("a.map", "LIBA_1 { global: one; local: *; }; LIBA_2 { global: two; } LIBA_1;");
  scratch.write("a.c", "void one(void) {} void two(void) {}");
  scratch.write("b.c",
                "void one(void); void two(void) __attribute__((weak));"
                "void b(void) { one(); if (two) two(); }");
  output_of("cc -shared -fPIC -Wl,-soname,liba.so.1 -Wl,--version-script," + scratch.at("a.map") +
            " -o " + scratch.at("liba.so.1") + " " + scratch.at("a.c"));
  output_of("cc -shared -fPIC -nostdlib -o " + scratch.at("b.so") + " " + scratch.at("b.c") + " " +
            scratch.at("liba.so.1"));
  FileBytes a(scratch.at("liba.so.1"), 1U << 20U);
  const auto defined =
      read_version_definitions(a, *read_tables(a), *read_dynamic(a, *read_tables(a)));
  CHECK(defined == std::vector<std::string>{"liba.so.1", "LIBA_1", "LIBA_2"});
  std::string content = read_all(scratch.at("b.so"));
  MemoryBytes b(content);
  auto needs = read_version_needs(b, *read_tables(b), *read_dynamic(b, *read_tables(b))).value();
  std::ranges::sort(needs, {}, &VersionNeed::version);
  REQUIRE(needs.size() == 2);
  CHECK(needs[0].library == "liba.so.1");
  CHECK(needs[0].version == "LIBA_1");
  CHECK_FALSE(needs[0].weak);
  CHECK(needs[1].version == "LIBA_2");
  // Not every linker says of a version that only weak symbols have it, and the loader goes by that.
  const Section section = *read_tables(b)->find(".gnu.version_r");
  for (std::uint64_t at = section.offset + sizeof(Elf64_Verneed);
       at < section.offset + section.size; at += sizeof(Elf64_Vernaux)) {
    Elf64_Vernaux version;
    std::memcpy(&version, content.data() + at, sizeof(version));
    version.vna_flags = version.vna_other == needs[1].index ? VER_FLG_WEAK : 0;
    std::memcpy(content.data() + at, &version, sizeof(version));
  }
  needs = read_version_needs(b, *read_tables(b), *read_dynamic(b, *read_tables(b))).value();
  CHECK(std::ranges::count(needs, true, &VersionNeed::weak) == 1);
  CHECK(std::ranges::find(needs, true, &VersionNeed::weak)->version == "LIBA_2");
  CHECK(our_undefined(b) == std::multiset<std::string>{"one@LIBA_1"});
}

TEST_CASE("names of symbols that all are the same long text are not read again and again") {
  const Scratch scratch;
  std::string source;
  for (unsigned i = 0; i < 200; ++i)
    source += "void f" + std::to_string(i) + std::string(1000, 'x') + "(void) {}\n";
  scratch.write("long.c", source);
  output_of("cc -shared -fPIC -nostdlib -o " + scratch.at("long.so") + " " + scratch.at("long.c"));
  std::string content = read_all(scratch.at("long.so"));
  MemoryBytes sound(content);
  const Tables tables = *read_tables(sound);
  CHECK(defines_symbol(sound, tables, "f199").value());
  const Section symbols = *tables.find(".dynsym");
  const Section names = *tables.find(".dynstr");
  for (std::size_t at = names.offset; at + 1 < names.offset + names.size; ++at) content[at] = 'x';
  for (std::size_t at = symbols.offset; at < symbols.offset + symbols.size; at += sizeof(Elf64_Sym))
    content.replace(at, 4, std::string(4, '\0'));
  MemoryBytes bent(content);
  CHECK(defines_symbol(bent, *read_tables(bent), "x").error() == ReadError::outside);
}

TEST_CASE("files that are none, and those of other machines, are told apart") {
  MemoryBytes empty("");
  CHECK(read_tables(empty).error() == ReadError::not_elf);
  MemoryBytes text("GROUP ( libc.so.6 ) and more text than the header of an ELF file has bytes");
  CHECK(read_tables(text).error() == ReadError::not_elf);
  const Scratch scratch;
  std::string content = read_all(made_library(scratch));
  for (const auto& [index, value] : {std::pair{EI_CLASS, ELFCLASS32}, {EI_DATA, ELFDATA2MSB}}) {
    std::string other = content;
    other[static_cast<std::size_t>(index)] = static_cast<char>(value);
    MemoryBytes bytes(other);
    CHECK(read_tables(bytes).error() == ReadError::other_format);
    CHECK(read_loader(bytes).empty());
  }
  FileBytes nowhere(scratch.at("nowhere"), 1U << 20U);
  CHECK(read_tables(nowhere).error() == ReadError::not_elf);
  FileBytes limited(scratch.at("libdamage.so"), 256);
  CHECK(read_tables(limited).error() == ReadError::outside);
}

TEST_CASE("the loader of a program is the one that readelf names") {
  FileBytes own("/proc/self/exe", 512U << 10U);
  const std::string loader = read_loader(own);
  CHECK(std::filesystem::exists(loader));
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  CHECK(output_of("LC_ALL=C readelf -lW '" + program + "'")
            .contains("[Requesting program interpreter: " + loader + "]"));
  const Scratch scratch;
  FileBytes library(made_library(scratch), 512U << 10U);
  CHECK(read_loader(library).empty());
}

TEST_CASE("damaged ELF files are refused or read, never followed outside") {
  const Scratch scratch;
  const std::string sound = read_all(made_library(scratch));
  std::mt19937 random(7);
  for (unsigned round = 0; round < 3000; ++round) {
    std::string content = sound;
    for (unsigned i = 0; i < 1 + random() % 4; ++i) {
      content[random() % content.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) content.resize(random() % content.size());
    MemoryBytes bytes(content);
    const auto tables = read_tables(bytes);
    static_cast<void>(read_loader(bytes));
    if (!tables) continue;
    static_cast<void>(defines_symbol(bytes, *tables, "PyInit_"));
    const auto dynamic = read_dynamic(bytes, *tables);
    if (!dynamic) continue;
    static_cast<void>(dynamic->names(DT_NEEDED));
    static_cast<void>(read_version_needs(bytes, *tables, *dynamic));
    static_cast<void>(read_version_definitions(bytes, *tables, *dynamic));
  }
  for (std::size_t size = 0; size < 64; ++size) {
    MemoryBytes bytes(std::string_view(sound).substr(0, size));
    CHECK(read_tables(bytes).error() == ReadError::not_elf);
  }
}

TEST_CASE("names that lie outside of their table are said to be missing") {
  const Scratch scratch;
  std::string content = read_all(made_library(scratch));
  MemoryBytes sound(content);
  const Segment segment = *read_tables(sound)->segment(PT_DYNAMIC);
  Elf64_Dyn first;
  std::memcpy(&first, content.data() + segment.offset, sizeof(first));
  REQUIRE(first.d_tag == DT_NEEDED);
  first.d_un.d_val = 1U << 30U;
  std::memcpy(content.data() + segment.offset, &first, sizeof(first));
  MemoryBytes bent(content);
  const auto dynamic = read_dynamic(bent, *read_tables(bent));
  REQUIRE(dynamic.has_value());
  CHECK_FALSE(dynamic->whole());
  CHECK(dynamic->names(DT_NEEDED).empty());
  CHECK(dynamic->names(DT_SONAME) == std::vector<std::string>{"libdamage.so"});
}

}  // namespace
}  // namespace axle::elf
