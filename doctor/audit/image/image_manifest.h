#pragma once
// Which images a saved image has, and their layers (OCI Image Layout and Image Manifest
// Specification 1.1; `docker save`).

#include <string>
#include <vector>

#include "doctor/audit/image/image_files.h"
#include "foundation/report/error.h"

namespace axle::doctor {

struct ImageLayer {
  std::string name;    ///< in the image's files
  std::string sha256;  ///< of it as it is, in hexadecimal digits; empty: unknown
};

struct SavedImage {
  std::string title;               ///< "demo:1.0 (linux/amd64)"
  std::vector<ImageLayer> layers;  ///< the lowest first
};

/// Several for a file with several platforms or tags. Errors: malformed, not_found, mismatch (a
/// manifest whose hash is another one), unsupported.
[[nodiscard]] Result<std::vector<SavedImage>> read_saved_images(const ImageFiles& files);

}  // namespace axle::doctor
