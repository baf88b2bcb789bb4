#pragma once
// What `variant audit` looks at: packages with what they declare, and with what is found in their
// libraries.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "binaries/binary_scan.h"
#include "binaries/instruction_scan.h"
#include "binaries/linkage.h"
#include "detect/capability.h"
#include "wheel/requirement.h"
#include "wheel/specifier.h"
#include "wheel/tag.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::doctor {

enum class AuditedKind : std::uint8_t { wheel, package, tree, image };

struct AuditedLibrary {
  std::string path;  ///< in the wheel, relative to site-packages, or in the image
  binaries::BinaryFacts facts;
  binaries::Linkage linkage;
  std::optional<binaries::InstructionScan> code;  ///< nullopt: of another architecture

  [[nodiscard]] std::string_view name() const {
    return std::string_view(path).substr(path.rfind('/') + 1);
  }
  [[nodiscard]] detect::Arch arch() const;
  /// Checks the CPU itself, or is loaded by its name for a CPU.
  [[nodiscard]] bool is_dispatched() const;
};

/// A file that begins like a library, and is none that can be read.
struct UnreadLibrary {
  std::string path;
  std::string why;
  bool damaged = false;  ///< else of a kind that is not supported, or too large
};

/// What a wheel says of itself.
struct Declaration {
  std::string name;     ///< normalised
  std::string version;  ///< as rendered
  std::vector<wheel::Tag> tags;
  std::string label;  ///< of a variant; empty: a plain wheel
  wheel::VariantProperties properties;
  std::vector<wheel::Requirement> requirements;
  wheel::SpecifierSet requires_python;
  bool abi_dependency = false;  ///< of its properties: the installer matches versions of others
};

struct Audited {
  AuditedKind kind = AuditedKind::wheel;
  std::string place;                       ///< as given, or a path below it
  std::string title;                       ///< "torch 2.15.0"; of a tree or image as `place`
  std::optional<Declaration> declaration;  ///< nullopt: a tree or an image
  std::vector<std::string> files;          ///< paths
  std::vector<AuditedLibrary> libraries;   ///< sorted by path
  std::vector<UnreadLibrary> unread;
  std::size_t passed_over = 0;    ///< libraries beyond the limit
  std::uint64_t size = 0;         ///< of all files, in bytes
  std::uint64_t hidden_size = 0;  ///< of an image: of files that upper layers hide
  /// Of an image: its files by their place in `files`, with their sizes.
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes = {};
  std::vector<std::string> faults = {};  ///< why it is not a valid wheel; empty: it is one
};

/// The names of a package's own files, and of its libraries as the loader knows them (DT_SONAME).
class OwnNames {
 public:
  /// `audited` must stay as it is.
  explicit OwnNames(const Audited& audited);
  [[nodiscard]] bool has(std::string_view library) const { return names_.contains(library); }

 private:
  std::unordered_set<std::string_view> names_;
};

}  // namespace axle::doctor
