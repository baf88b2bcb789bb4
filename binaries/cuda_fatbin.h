#pragma once
// The code objects in CUDA fatbins (sections .nv_fatbin and __nv_relfatbin of host libraries), by
// their headers alone: nothing is decompressed.
//
// NVIDIA documents no layout. This one was measured on fatbins of nvcc 13.0 (tests/builder compares
// again where there is an nvcc) and agrees with the headers that CUDA's own fatbinary.h had:
//   fatbin  u32 magic 0xBA55ED50 · u16 version 1 · u16 header size · u64 size of what follows
//   entry   u16 kind · u16 version · u32 header size · u64 size of the padded payload ·
//           u32 size when compressed · u32 offset of PTX options · u16 minor, u16 major of the
//           code's version · u32 architecture (90) · u32 offset, u32 length of a name · u64 flags ·
//           …
// Of the flags 0x2000 (LZ4) and 0x8000 (zstd) say how it is compressed, 0x100000 an `a` target
// (sm_90a), 0x200000 an `f` target (sm_100f).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

enum class CudaCodeKind : std::uint8_t {
  cubin,  ///< compiled: runs as it is
  ptx,    ///< compiled by the driver when it is loaded
  ltoir,  ///< only for the linker; no driver loads it
  other,
};

/// How a code object is compressed. Only drivers since CUDA 12.4 decompress zstd (`nvcc
/// --compress-mode=size|balance`); older ones fail with "device kernel image is invalid" (ollama
/// issue 12258). All drivers decompress LZ4 (`speed`, the only mode before).
enum class CudaPacking : std::uint8_t { none, lz4, zstd };

struct CudaCode {
  CudaCodeKind kind = CudaCodeKind::other;
  std::uint32_t architecture = 0;  ///< 90 for sm_90, 120 for sm_120
  char target = 0;          ///< 'a': that architecture only; 'f': its family; 0: the usual rule
  std::uint16_t major = 0;  ///< of the version of PTX (8.7), or of the cubin's format
  std::uint16_t minor = 0;
  CudaPacking packing = CudaPacking::none;
  friend auto operator<=>(const CudaCode&, const CudaCode&) = default;
};

/// The fatbins with the same code objects. Objects without any function do not count.
struct CudaGroup {
  std::vector<CudaCode> codes;  ///< sorted, without duplicates
  std::size_t fatbins = 0;
};

struct CudaFatbins {
  std::vector<CudaGroup> groups;  ///< in the order in which they first appear
  std::size_t fatbins = 0;
  std::string stopped;  ///< why the rest was not read: a limit, or bytes that are not a fatbin; may
                        ///< be empty
};

/// The limits of one scan.
struct FatbinLimits {
  std::size_t entries = 200'000;
  std::size_t groups = 1024;
};

/// Every fatbin in [offset, offset + size) of `source`, which must lie inside. Errors: io.
[[nodiscard]] Result<CudaFatbins> read_cuda_fatbins(wheel::ByteSource& source, std::uint64_t offset,
                                                    std::uint64_t size,
                                                    const FatbinLimits& limits = {});

/// The ones in another section of the same file.
void add_fatbins(CudaFatbins& all, CudaFatbins more);

/// "sm_90a", "compute_120", "lto_90"
[[nodiscard]] std::string render_cuda_code(const CudaCode& code);

}  // namespace axle::binaries
