#pragma once
// Fatbins, bundles and libraries with them, made by hand.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/scratch.h"

namespace axle::builder::testing {

template <class Number>
void put(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

inline constexpr std::uint16_t ptx = 1;
inline constexpr std::uint16_t cubin = 2;
inline constexpr std::uint64_t flag_a = 0x100000;
inline constexpr std::uint64_t flag_f = 0x200000;
inline constexpr std::uint64_t flag_lz4 = 0x2000;
inline constexpr std::uint64_t flag_zstd = 0x8000;

struct MadeCode {
  std::uint16_t kind = cubin;
  std::uint32_t architecture = 90;
  std::uint64_t flags = 0;
  std::uint16_t major = 1;
  std::uint16_t minor = 8;
  std::uint64_t payload = 24;
};

inline std::string made_entry(const MadeCode& code) {
  std::string bytes;
  put<std::uint16_t>(bytes, code.kind);
  put<std::uint16_t>(bytes, 0x101);
  put<std::uint32_t>(bytes, 64);
  put<std::uint64_t>(bytes, code.payload);
  put<std::uint32_t>(bytes, 0);
  put<std::uint32_t>(bytes, 0);
  put<std::uint16_t>(bytes, code.minor);
  put<std::uint16_t>(bytes, code.major);
  put<std::uint32_t>(bytes, code.architecture);
  put<std::uint64_t>(bytes, 0);
  put<std::uint64_t>(bytes, code.flags | 0x11);
  bytes.resize(64, '\0');
  bytes.append(code.payload, 'c');
  return bytes;
}

inline std::string made_fatbin(const std::vector<MadeCode>& codes) {
  std::string entries;
  for (const MadeCode& code : codes) entries += made_entry(code);
  std::string bytes;
  put<std::uint32_t>(bytes, 0xBA55ED50);
  put<std::uint16_t>(bytes, 1);
  put<std::uint16_t>(bytes, 16);
  put<std::uint64_t>(bytes, entries.size());
  return bytes + entries;
}

/// Ids with code of `size` bytes each, the first at the next page.
inline std::string made_bundle(const std::vector<std::string>& ids, std::uint64_t size = 64) {
  std::string bytes = "__CLANG_OFFLOAD_BUNDLE__";
  put<std::uint64_t>(bytes, ids.size());
  std::uint64_t offset = 4096;
  for (const std::string& id : ids) {
    const std::uint64_t own = id.starts_with("host") ? 0 : size;
    put<std::uint64_t>(bytes, offset);
    put<std::uint64_t>(bytes, own);
    put<std::uint64_t>(bytes, id.size());
    bytes += id;
    offset += own;
  }
  bytes.resize(offset, '\0');
  return bytes;
}

/// A shared library of C code with `content` in a section of that name; `arguments` for the
/// compiler.
inline std::string made_library(const Scratch& scratch, const std::string& name,
                                const std::string& section, const std::string& content,
                                const std::string& arguments = "") {
  scratch.write(name + ".bin", content);
  scratch.write(name + ".s", "  .section \"" + section + "\",\"a\",@progbits\n  .balign 8\n" +
                                 "  .incbin \"" + scratch.at(name + ".bin") +
                                 "\"\n  .section .note.GNU-stack,\"\",@progbits\n");
  scratch.write(name + ".c", "int made(void) { return 1; }\n");
  output_of("cc -shared -fPIC -nostdlib -Wl,-soname," + name + " -o " + scratch.at(name) + " " +
            scratch.at(name + ".c") + " " + scratch.at(name + ".s") + " " + arguments + " 2>&1");
  return scratch.at(name);
}

}  // namespace axle::builder::testing
