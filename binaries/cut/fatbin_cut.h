#pragma once
// Removes from CUDA's fatbins what one architecture does not need.
//
// Of each fatbin stay the code objects that the driver would load on that architecture: the
// compiled ones of its number (sm_90 and sm_90a), else of the largest number that runs on it
// (sm_80 on 8.6), else the newest PTX that it can be compiled from. A fatbin without any keeps its
// smallest code object, so that the driver says what it said before: no code for this GPU. Code of
// a kind that is unknown stays.

#include <cstdint>
#include <string_view>

#include "binaries/cut/section_cut.h"
#include "foundation/report/error.h"

namespace axle::binaries {

struct FatbinChoice {
  unsigned architecture = 0;  ///< 90
  /// The newest PTX of each fatbin stays as well: for GPUs that are newer than all compiled code.
  bool newest_ptx = false;
  bool all_ptx = false;  ///< all PTX stays
};

/// `section`: the bytes of .nv_fatbin or __nv_relfatbin. Fatbins before `fixed` stay whole where
/// they are. Errors: malformed (bytes that are no fatbin, or a size that is not true, with the
/// place), unsupported (a version of the format).
[[nodiscard]] Result<CutSection> cut_fatbins(std::string_view section, const FatbinChoice& choice,
                                             std::uint64_t fixed = 0);

}  // namespace axle::binaries
