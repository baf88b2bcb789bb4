#pragma once
// Cuts the GPU code of a finished shared library or program to one architecture and makes the file
// smaller; what its host code does stays (elf_shrink.h).

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "binaries/binary_scan.h"
#include "binaries/cut/fatbin_cut.h"
#include "binaries/cut/section_cut.h"
#include "foundation/report/error.h"

namespace axle::binaries {

struct CutLibrary {
  std::string bytes;
  CutCounts counts;
};

/// Its CUDA code. Errors: as cut_fatbins and shrink_elf, with `where`.
[[nodiscard]] Result<CutLibrary> cut_cuda_library(std::string_view file, const FatbinChoice& choice,
                                                  std::string_view where);
/// Its code for AMD GPUs. Errors: as cut_bundles and shrink_elf, with `where`.
[[nodiscard]] Result<CutLibrary> cut_hip_library(std::string_view file, std::string_view processor,
                                                 std::string_view where);

/// Whether the GPU code of a library, of which `facts` were read, is whole. Errors: malformed, with
/// the place. What is only beyond the limits of that reader is none.
[[nodiscard]] Result<void> check_gpu_code(std::string_view file, const BinaryFacts& facts,
                                          std::string_view where);

/// The processors of its bundles. Errors: as bundled_processors, with `where`.
[[nodiscard]] Result<std::vector<std::string>> library_processors(std::string_view file,
                                                                  std::string_view where);

}  // namespace axle::binaries
