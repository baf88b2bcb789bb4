#pragma once
// The part of variant metadata that says where supported properties come from. Private to its
// reader.

#include "wheel/document_reader.h"
#include "wheel/json_tree.h"
#include "wheel/variant_metadata.h"
#include "wheel/variant_schema.h"

namespace axle::wheel {

/// Reads "providers", and the "static-properties" of 0.0.3, into `metadata`, whose namespaces have
/// been read. False after a complaint to `reader`.
bool read_providers(DocumentReader& reader, const SchemaVersion& version, const JsonNode& root,
                    VariantMetadata& metadata);

}  // namespace axle::wheel
