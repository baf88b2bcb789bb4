#pragma once
// One note of an ELF file, read without loading the file.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace axle::detect {

/// At most `size` bytes of a file from `offset` on; fewer at its end, none where it cannot be read.
using ReadAt = std::function<std::string(std::uint64_t offset, std::size_t size)>;

/// The description of the first note of `owner` in the section of that name, at most 64 KiB, as it
/// stands in the file. nullopt where there is none, and for what is no 64-bit little-endian ELF
/// file (gABI, "Object Files" and "Note Section"). The file is hostile.
[[nodiscard]] std::optional<std::string> find_elf_note(const ReadAt& read_at,
                                                       std::string_view section,
                                                       std::string_view owner);

/// Reads a file of this machine; an unreadable one gives nothing.
[[nodiscard]] std::optional<std::string> read_elf_note(const std::string& path,
                                                       std::string_view section,
                                                       std::string_view owner);

}  // namespace axle::detect
