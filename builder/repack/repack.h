#pragma once
// Makes variants of wheels that exist: the same files under a label (`relabel_wheel`), or their GPU
// code cut to one architecture each (`split_wheel`).

#include <cstdint>
#include <string>
#include <vector>

#include "binaries/cut/section_cut.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::builder {

struct RepackedWheel {
  std::string file;  ///< absolute path
  std::string label;
  std::string sha256;
  std::uint64_t size = 0;
  wheel::VariantProperties properties;
  std::string architecture;         ///< "sm_90", "gfx942"; empty: nothing was cut
  binaries::CutCounts counts = {};  ///< of all libraries
};

/// A machine of the bundled ones whose GPU the wheel has code for.
struct KeptMachine {
  std::string name;
  std::string gpu;    ///< "9.0", "gfx942"
  std::string label;  ///< of the variant for it; empty: it needs the wheel that was split
};

struct RepackedWheels {
  std::string source;  ///< as given
  std::uint64_t source_size = 0;
  std::vector<RepackedWheel> wheels;
  std::vector<KeptMachine> machines;  ///< by name
};

struct RelabelOptions {
  std::string label;
  wheel::VariantProperties properties;  ///< empty: those that it has
  /// Of all variants of the release, the most important one first; empty: as with_properties says.
  std::vector<std::string> namespaces = {};
};

enum class SplitBy : std::uint8_t { sm, gfx };

struct SplitOptions {
  SplitBy by = SplitBy::sm;
  bool keep_ptx = false;                     ///< PTX stays in all variants
  std::vector<std::string> namespaces = {};  ///< as of RelabelOptions
};

struct RepackPlace {
  std::string out_folder;  ///< empty: the current one
  std::uint64_t source_date_epoch = 0;
};

/// Errors: those of SourceWheel; malformed (a label, a property without a provider that is known
/// here), not_found (no properties), mismatch (`null` with properties,
/// properties of another architecture than the wheel's, an order that lacks one of its namespaces),
/// unsupported (`null` of a plain wheel without `namespaces`).
[[nodiscard]] Result<RepackedWheels> relabel_wheel(const std::string& path,
                                                   const RelabelOptions& options,
                                                   const RepackPlace& place, Report& report);

/// A variant for each architecture that its libraries have compiled code for. A library that cannot
/// be cut stays whole in all of them, with a warning. Errors: those of SourceWheel; not_found
/// (there is no such code), malformed (GPU code or an ELF file that is damaged, with the place).
[[nodiscard]] Result<RepackedWheels> split_wheel(const std::string& path,
                                                 const SplitOptions& options,
                                                 const RepackPlace& place, Report& report);

}  // namespace axle::builder
