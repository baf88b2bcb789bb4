#pragma once
// The packages of an environment as a CycloneDX 1.6 document.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "session/inventory.h"
#include "wheel/record.h"

namespace axle::cli {

struct BillOfMaterials {
  const session::Inventory& inventory;
  /// With --files: of each package whose RECORD can be read, by its name.
  std::map<std::string, std::vector<wheel::RecordEntry>> files = {};
  std::uint64_t time = 0;  ///< seconds since 1970
  /// A UUID; empty: it follows from the content.
  std::string serial = {};
};

[[nodiscard]] nlohmann::ordered_json render_bom(const BillOfMaterials& bill);

/// "2026-01-31T00:00:00Z"; nullopt: that is beyond the year 9999.
[[nodiscard]] std::optional<std::string> render_utc(std::uint64_t seconds);

/// RFC 9562: `bytes` in its form, with the number of the version.
[[nodiscard]] std::string render_uuid(std::string bytes, unsigned version);

}  // namespace axle::cli
