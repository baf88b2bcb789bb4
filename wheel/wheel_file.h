#pragma once
// One wheel as a whole: name, archive and the metadata inside, checked against each other.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/core_metadata.h"
#include "wheel/record.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_name.h"
#include "wheel/zip/zip_reader.h"

namespace axle::wheel {

struct WheelFile {
  WheelName name;
  ZipReader archive;
  std::string dist_info;  ///< the one "*.dist-info" folder, its name equal to the file name's
  std::string metadata_text;
  CoreMetadata metadata;
  bool purelib = true;                     ///< WHEEL: Root-Is-Purelib
  std::optional<VariantMetadata> variant;  ///< variant.json; present iff the name has a label
  std::string variant_text;                ///< the same as it stands there
};

/// Reads METADATA, WHEEL and variant.json. `file_name` decides what the wheel claims to be.
/// With `directory_only` the archive is read by its directory (ranges), see
/// ZipReader::open_directory. Errors: malformed; mismatch (METADATA name or version or variant.json
/// label differ from the file name); unsupported (Wheel-Version major above 1).
[[nodiscard]] Result<WheelFile> open_wheel(std::unique_ptr<ByteSource> source,
                                           std::string_view file_name, std::string where,
                                           Report& report, bool directory_only = false);

/// The same of a wheel whose name was parsed.
[[nodiscard]] Result<WheelFile> open_wheel(std::unique_ptr<ByteSource> source, WheelName name,
                                           std::string where, Report& report,
                                           bool directory_only = false);

/// Parses RECORD and checks that it lists exactly the archive's files, each once, with sizes that
/// agree. Hashes are checked by whoever unpacks. Errors: malformed, mismatch.
[[nodiscard]] Result<std::vector<RecordEntry>> read_checked_record(const WheelFile& wheel);

}  // namespace axle::wheel
