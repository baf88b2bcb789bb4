#pragma once
// The headers of CUDA's fatbins, for the reader and the cutter: binaries/cuda_fatbin.h describes
// them.

#include <bit>
#include <cstdint>

#include "binaries/cuda_fatbin.h"

namespace axle::binaries::fatbin {

static_assert(std::endian::native == std::endian::little, "records are copied as they lie");

inline constexpr std::uint32_t magic = 0xBA55ED50;
inline constexpr std::uint64_t alignment = 8;
/// Between fatbins of one section there are at most a few bytes of padding; a linker may align to a
/// page.
inline constexpr std::uint64_t longest_gap = 8192;

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_size;
  std::uint64_t size;
};
static_assert(sizeof(Header) == 16);

struct EntryHeader {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_size;
  std::uint64_t size;
  std::uint32_t compressed_size;
  std::uint32_t options;
  std::uint16_t minor;
  std::uint16_t major;
  std::uint32_t architecture;
  std::uint32_t name_offset;
  std::uint32_t name_size;
  std::uint64_t flags;
};
static_assert(sizeof(EntryHeader) == 48);

[[nodiscard]] CudaCode code_of(const EntryHeader& entry);

/// Whether the code object, whose ELF file lies at `payload` of `source`, is known to be without
/// any function: nvcc's stub for device linking, and sources whose kernels are left out for that
/// architecture. Of a compressed one nothing is known; nvcc leaves small ones as they are.
[[nodiscard]] bool is_without_functions(const EntryHeader& entry, wheel::ByteSource& source,
                                        std::uint64_t payload);

}  // namespace axle::binaries::fatbin
