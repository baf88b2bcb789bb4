#pragma once
// Removes from clang's offload bundles (binaries/offload_bundle.h) what one AMD processor does not
// need.
//
// Of each bundle stay the host's entry and the code objects of that processor, whatever they say of
// sramecc and xnack, else those of the generic target that it belongs to. A bundle without any
// keeps its smallest code object, so that HIP says what it said before. Compressed bundles stay
// compressed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "binaries/cut/section_cut.h"
#include "foundation/report/error.h"

namespace axle::binaries {

/// `section`: the bytes of .hip_fatbin. `processor`: "gfx90a", or a generic target. Bundles before
/// `fixed` stay whole where they are. Errors:
/// malformed (with the place), unsupported (a compression, no libzstd).
[[nodiscard]] Result<CutSection> cut_bundles(std::string_view section, std::string_view processor,
                                             std::uint64_t fixed = 0);

/// The processors and generic targets of its bundles, sorted: "gfx90a", "gfx9-4-generic". Errors:
/// as cut_bundles.
[[nodiscard]] Result<std::vector<std::string>> bundled_processors(std::string_view section);

}  // namespace axle::binaries
