#pragma once
// A section of containers of GPU code after some of the code was removed from them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace axle::binaries {

/// A container and what became of it. Offsets are from the section's beginning.
struct MovedContainer {
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t new_offset;
  std::uint64_t new_size;
};

/// What the containers of a section, or of a library, hold for the architecture that was kept.
struct CutCounts {
  std::size_t containers = 0;
  std::size_t own = 0;       ///< with code of that very architecture
  std::size_t fallback = 0;  ///< with other code that runs on it: an older one's, or a family's
  std::size_t compiled_later = 0;  ///< with nothing but code that the driver compiles (PTX)
  std::size_t none = 0;            ///< without any: such a container keeps its smallest code object
  std::size_t fixed = 0;           ///< that stay whole: code may refer to where they are
  std::size_t kept = 0;            ///< code objects
  std::size_t removed = 0;         ///< code objects

  void add(const CutCounts& more) {
    containers += more.containers;
    own += more.own;
    fallback += more.fallback;
    compiled_later += more.compiled_later;
    none += more.none;
    fixed += more.fixed;
    kept += more.kept;
    removed += more.removed;
  }
  friend bool operator==(const CutCounts&, const CutCounts&) = default;
};

struct CutSection {
  std::string content;                     ///< not longer than before
  std::vector<MovedContainer> containers;  ///< in the order of the section
  CutCounts counts;
};

}  // namespace axle::binaries
