#pragma once
// Byte code of the modules of a wheel, compiled once for each kind of interpreter and kept in the
// store: <store>/byte-code/<sha256 of the wheel>-<tag>-<magic>-<times of its modules>, an entry
// like that of a wheel.
//
// A file of it is valid for a module with the same time (seconds) and size as the wheel's in the
// store (importlib's check by time), wherever that is: the interpreter corrects the paths in byte
// code when it loads it.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/environment/environment.h"
#include "installer/store/store.h"

namespace axle::installer {

/// The byte code of `wheels`, which are unpacked, in their order: taken from `store`, or from
/// `read_only_store` (empty: there is none), or compiled by the interpreter of `environment`,
/// several processes at once. Modules that it cannot compile have none, as with pip and uv; those
/// that make it crash or take longer than a minute, or for which it writes something else, are
/// named in a warning. Errors: io, unsupported (an interpreter without byte code files).
[[nodiscard]] Result<std::vector<StoreEntry>> acquire_byte_code(
    const std::string& store, const std::string& read_only_store,
    const std::vector<const WheelContents*>& wheels, const Environment& environment,
    EntryCheck check, Report& report);

}  // namespace axle::installer
