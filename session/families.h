#pragma once
// The index families of a command: the shipped ones, the user's files, mirrors, and whether
// families apply.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "index/family/family_book.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

/// `--torch-backend auto`: decided by the machine, as without the option.
inline constexpr std::string_view auto_backend = "auto";

/// nullptr if families do not apply: --index-url or --no-index on the command line determine the
/// source of packages, unless --family or --torch-backend request families. Errors: what is wrong
/// with a user's file; usage for --family.
[[nodiscard]] Outcome<std::unique_ptr<index::FamilyBook>> open_families(const Arguments& arguments,
                                                                        index::Transport& transport,
                                                                        Report& report);

/// The shipped families and the user's, with the mirrors of --family.
[[nodiscard]] Outcome<std::unique_ptr<index::FamilyBook>> all_families(const Arguments& arguments,
                                                                       index::Transport& transport,
                                                                       Report& report);

/// "cpu", "xpu", "cu130", "rocm7.2", "auto": the values that uv accepts.
[[nodiscard]] bool is_torch_backend(std::string_view text);

/// --torch-backend, else UV_TORCH_BACKEND; nullopt if neither is given. Error: usage for an invalid
/// backend.
[[nodiscard]] Outcome<std::optional<std::string>> torch_backend(const Arguments& arguments);

}  // namespace axle::session
