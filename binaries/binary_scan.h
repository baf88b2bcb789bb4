#pragma once
// What a finished library or program requires of the machine: libraries, CPU levels, code for GPUs.
// Only tables and headers are read, whatever the file's size. `variant doctor` uses it for an
// environment, an audit for a wheel.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "binaries/cuda_fatbin.h"
#include "binaries/offload_bundle.h"
#include "binaries/sycl_images.h"
#include "foundation/elf/elf_notes.h"
#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

/// A part that was not understood or not read completely: no conclusions may be drawn from it.
struct UnreadPart {
  std::string section;
  std::string why;
};

struct BinaryFacts {
  std::string architecture;  ///< "x86_64", "aarch64"; "machine 21" for another
  std::string soname;
  std::vector<std::string> needed;   ///< DT_NEEDED, in file order
  std::vector<std::string> rpath;    ///< DT_RPATH's folders: before LD_LIBRARY_PATH
  std::vector<std::string> runpath;  ///< DT_RUNPATH's: after it; disables DT_RPATH
  /// The dynamic names include one with which libraries check the CPU: __cpu_model, getauxval,
  /// av_get_cpu_flags, … If not, the check may still be in its own code.
  bool names_cpu_question = false;
  elf::IsaLevels isa;
  CudaFatbins cuda;               ///< .nv_fatbin and next to it .ldata: passed to the driver
  bool cuda_relocatable = false;  ///< __nv_relfatbin: for a further link, never loaded
  OffloadBundles hip;             ///< .hip_fatbin
  SyclImages sycl;
  std::vector<UnreadPart> unread;
  std::uint64_t size = 0;  ///< of the file
  std::uint64_t bytes_read = 0;

  [[nodiscard]] bool has_gpu_code() const {
    return cuda.fatbins > 0 || hip.bundles > 0 || sycl.jit || sycl.ahead;
  }
};

/// Errors: as elf_error (binaries/elf_source.h).
[[nodiscard]] Result<BinaryFacts> scan_binary(wheel::ByteSource& source, std::string_view where);

/// Error in addition: not_found.
[[nodiscard]] Result<BinaryFacts> scan_binary_file(const std::string& path);

}  // namespace axle::binaries
