#pragma once
// Wheels that have the metadata of sources and nothing else, for whoever chooses versions: what the
// sources are built into is decided on the machine that installs them.

#include <chrono>
#include <optional>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"

namespace axle::session {

/// METADATA of the project in `folder` as far as it says it without running code: the table
/// [project] of its pyproject.toml (PEP 621). `is_packed`: of an archive, whose PKG-INFO says more
/// (PEP 643). nullopt: some of name, version, requirements, extras and Requires-Python is dynamic,
/// missing or not valid, and its backend has to say it.
[[nodiscard]] std::optional<std::string> stated_metadata(const std::string& folder, bool is_packed);

/// The Python function `write_metadata_wheel(folder, metadata)`, which returns the file's name.
extern const char* const metadata_wheel_script;

/// Has the interpreter `python` write that wheel into `folder`; `scratch`: for temporary files.
/// Errors: unsupported (it could not), io.
[[nodiscard]] Result<void> write_metadata_wheel(
    const std::string& python, const std::string& metadata, const std::string& folder,
    const std::string& scratch, std::chrono::milliseconds time_limit, Report& report);

}  // namespace axle::session
