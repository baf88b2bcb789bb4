#pragma once
// Files of an installed package that are another one's, because the user consented (--overwrite).
// The package's RECORD has what is there; <dist-info>/axle-overwritten.json says whose that is:
// {"cv2/__init__.py": "opencv-python-headless"}.

#include <map>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::installer {

inline constexpr std::string_view overwritten_file = "axle-overwritten.json";

/// Path as in RECORD -> the normalised name of the package whose file is there.
using OverwrittenFiles = std::map<std::string, std::string, std::less<>>;

[[nodiscard]] std::string render_overwritten(const OverwrittenFiles& files);

/// Error: malformed.
[[nodiscard]] Result<OverwrittenFiles> parse_overwritten(std::string_view text,
                                                         std::string_view where);

/// Those of the package with the folder `dist_info`; mostly none. Errors: malformed, io.
[[nodiscard]] Result<OverwrittenFiles> read_overwritten(const std::string& dist_info);

}  // namespace axle::installer
