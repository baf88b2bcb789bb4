#pragma once
// Intel's device images in a host library: sections `__CLANG_OFFLOAD_BUNDLE__sycl-<triple>`, one an
// image kind (intel/llvm, clang-offload-wrapper and clang-offload-extract). SPIR-V is compiled by
// the driver for whatever device there is; images made ahead of time say in their notes or their
// archive's names for which. A section has one image after the other, each at a multiple of 16
// bytes and, with `--offload-compress`, each a zstd frame of its own.
//
// Notes: zebin, section .note.intelgt.compat, owner "IntelGT", type 6 the product configuration
// (intel/compute-runtime, zebin_elf.h). Archives: ocloc's, members "64.<device>" (compute-runtime,
// ocloc_fatbinary.cpp).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

struct SyclImages {
  bool jit = false;                     ///< includes SPIR-V
  bool ahead = false;                   ///< includes images that were compiled ahead of time
  std::vector<std::string> device_ips;  ///< "20.1.0", sorted, without duplicates
  std::vector<std::string> products;    ///< names of devices that are not numbers: "pvc"
  std::string stopped;                  ///< why something is unknown; may be empty
};

/// The prefix of the sections' names.
inline constexpr std::string_view sycl_section_prefix = "__CLANG_OFFLOAD_BUNDLE__sycl-";

/// Adds the content of the section `name` with the bytes [offset, offset + size). Errors: io.
[[nodiscard]] Result<void> read_sycl_section(wheel::ByteSource& source, std::string_view name,
                                             std::uint64_t offset, std::uint64_t size,
                                             SyclImages& images);

/// GMDID: 10 bits of architecture, 8 of release, 6 of revision. "20.1.0"
[[nodiscard]] std::string render_device_ip(std::uint32_t value);

}  // namespace axle::binaries
