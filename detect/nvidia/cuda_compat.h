#pragma once
// NVIDIA's forward compatibility: a libcuda newer than the kernel module, which only runs on some
// GPUs and driver branches (CUDA Compatibility, "Forward Compatibility").

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/elf/elf_bytes.h"

namespace axle::detect {

/// Section and owner of the ELF note in such a library.
inline constexpr std::string_view compat_note_section = ".note.cuda.fwd_compatibility";
inline constexpr std::string_view compat_note_owner = "NVIDIA Corporation";

/// At most this much of a library's tables is read.
inline constexpr std::uint64_t largest_driver_table = 512 * 1024;  ///< bytes

/// The text of the library's note; nullopt if it has none. The file is not trusted.
[[nodiscard]] std::optional<std::string> find_compat_note(elf::Bytes& library);

/// For a file of this machine, which is read without being loaded; an unreadable one has none.
[[nodiscard]] std::optional<std::string> read_compat_note(const std::string& path);

struct CompatNote {
  std::string cuda_version;        ///< "12.9"
  std::vector<unsigned> branches;  ///< of the kernel modules that it runs on: 535, 550, …
};

/// The note's text, `{"format":1,"CUDA version":"12.9","driver":[535,550],"device":[1,2]}`; a comma
/// after the last member, which NVIDIA writes, is allowed. nullopt for anything else, another
/// format, or a note without a CUDA version.
[[nodiscard]] std::optional<CompatNote> parse_compat_note(std::string_view text);

/// Whether the library's folder is one that CUDA's compat packages use: a component of the path is
/// "compat" or begins with it ("/usr/local/cuda/compat/lib.real").
[[nodiscard]] bool is_compat_path(std::string_view path);

/// Whether `driver` ("545.23.06") belongs to one of the branches. An empty list allows none.
[[nodiscard]] bool allows_branch(const std::vector<unsigned>& branches, std::string_view driver);

}  // namespace axle::detect
