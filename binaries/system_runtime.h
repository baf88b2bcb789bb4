#pragma once
// The C library and the C++ runtime of a machine, which wheels do not bring along: which versions
// of symbols they define. Their files are read, never loaded.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detect/drivers/library_search.h"
#include "detect/host.h"
#include "detect/machine.h"
#include "foundation/elf/elf_symbols.h"

namespace axle::binaries {

inline constexpr std::string_view cxx_runtime = "libstdc++.so.6";

class SystemRuntime {
 public:
  /// `libc`: of the machine in question. `host`: reads the files of this machine; nullptr: it is
  /// another one, of which nothing else is known. `folders`: where the interpreter finds libraries
  /// besides.
  SystemRuntime(detect::Libc libc, detect::Host* host, std::vector<std::string> folders);

  /// What is there instead of the version: "this machine has glibc 2.36". nullopt: it is there, in
  /// some copy of the library, or the library is none of the runtime, or nothing is known of it.
  /// `architecture`: EM_… of the file that needs it.
  [[nodiscard]] std::optional<std::string> lacks(const elf::VersionNeed& need,
                                                 std::uint16_t architecture);
  /// Nowhere where the loader of this machine looks is a library of that name.
  [[nodiscard]] bool is_absent(std::string_view library, std::uint16_t architecture);

 private:
  struct Copies {
    std::string path;  ///< of the first one; empty: none
    std::set<std::string, std::less<>> versions;
  };
  [[nodiscard]] const Copies& copies_of(std::string_view library, std::uint16_t architecture);

  detect::Libc libc_;
  detect::Host* host_;
  std::vector<std::string> folders_;
  std::optional<detect::LibrarySearch> search_;
  std::map<std::pair<std::string, std::uint16_t>, Copies> copies_;
};

}  // namespace axle::binaries
