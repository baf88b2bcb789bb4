#pragma once
// Container images as an audit sees them: what is visible when all layers lie upon each other (OCI
// Image Layer Filesystem Changeset), read without unpacking anything to disk.

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/audit/audited.h"
#include "doctor/audit/image/layer_reading.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::doctor {

/// The images of a file or folder. What is wrong with one is in its `faults`. Errors: not_found,
/// io; malformed or unsupported where not even the manifest can be read.
[[nodiscard]] Result<std::vector<Audited>> read_audited_images(const std::string& path,
                                                               Report& report);

/// What is visible of `layers`, the lowest first, in `image`, and what is not.
void lay_over_each_other(std::vector<LayerContent> layers, Audited& image);

}  // namespace axle::doctor
