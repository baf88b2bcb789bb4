#pragma once
// The part of variant metadata that says where supported properties come from. Private to its
// reader.

#include "foundation/documents/json_tree.h"
#include "wheel/variant/document_reader.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/variant/variant_schema.h"

namespace axle::wheel {

/// Reads "providers", and the "static-properties" of 0.0.3, into `metadata`, whose namespaces have
/// been read. False after a complaint to `reader`.
bool read_providers(DocumentReader& reader, const SchemaVersion& version,
                    const documents::JsonNode& root, VariantMetadata& metadata);

}  // namespace axle::wheel
