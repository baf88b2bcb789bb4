#pragma once
// The part of variant metadata that says where supported properties come from. Private to its
// reader.

#include "foundation/documents/json_object.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/variant/variant_schema.h"

namespace axle::wheel {

/// Reads "providers", and the "static-properties" of 0.0.3, into `metadata`, whose namespaces have
/// been read. What is wrong is refused in the document's reading.
void read_providers(documents::JsonObject& document, const SchemaVersion& version, Report& report,
                    VariantMetadata& metadata);

}  // namespace axle::wheel
