#pragma once
// Clang's bundles of device code, as in .hip_fatbin of HIP libraries (clang documentation, "Clang
// Offload Bundler": bundled binary and compressed bundle layout). Of a compressed bundle (`CCOB`)
// only the table of its entries is decompressed.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::binaries {

/// "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
struct BundleEntry {
  std::string kind;        ///< "hipv4", "hip", "host", "openmp", "sycl"
  std::string triple;      ///< "amdgcn-amd-amdhsa"
  std::string target;      ///< "gfx942:sramecc+:xnack-", "gfx11-generic"; empty: none
  std::uint64_t size = 0;  ///< bytes of the code; 0: an entry without any
  friend auto operator<=>(const BundleEntry&, const BundleEntry&) = default;
};

/// If the id is not valid, `kind` is empty.
[[nodiscard]] BundleEntry parse_bundle_id(std::string_view id);

struct OffloadBundles {
  std::vector<BundleEntry> entries;  ///< of all bundles, unique and sorted; not the host's
  std::size_t bundles = 0;
  std::size_t compressed = 0;  ///< of them
  std::string stopped;         ///< why something was not read; may be empty
};

struct BundleLimits {
  std::size_t bundles = 50'000;
  std::size_t unpacked = 512;  ///< compressed bundles that are examined
};

/// Every bundle in [offset, offset + size) of `source`, which must lie inside. Errors: io.
[[nodiscard]] Result<OffloadBundles> read_offload_bundles(wheel::ByteSource& source,
                                                          std::uint64_t offset, std::uint64_t size,
                                                          const BundleLimits& limits = {});

}  // namespace axle::binaries
