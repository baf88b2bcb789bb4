#pragma once
// A wheel as the form that indexes take uploads in (the "legacy" upload API of the package index,
// which twine, uv and most servers speak).

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "index/publish/wheel_scan.h"

namespace axle::index {

using FormFields = std::vector<std::pair<std::string, std::string>>;

/// All but the file: its METADATA by the names of the form, and its hash. Error: malformed.
[[nodiscard]] Result<FormFields> upload_fields(const ScannedWheel& wheel);

/// multipart/form-data (RFC 7578): what stands before the bytes of the file, and after them.
struct UploadForm {
  std::string content_type;
  std::string before;
  std::string after;
};
[[nodiscard]] UploadForm render_upload(const FormFields& fields, const ScannedWheel& wheel);

}  // namespace axle::index
