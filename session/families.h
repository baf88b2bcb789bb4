#pragma once
// The index families of a command: the shipped ones, the user's files, mirrors, and whether they
// count.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "index/family/family_book.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

/// `--torch-backend auto`: what the machine is decides, as it does without.
inline constexpr std::string_view auto_backend = "auto";

/// nullptr where families are silent: --index-url or --no-index on the command line say where
/// packages come from, unless --family or --torch-backend ask for them all the same. Errors: what
/// is wrong with a file of the user's; usage for --family.
[[nodiscard]] Outcome<std::unique_ptr<index::FamilyBook>> open_families(const Arguments& arguments,
                                                                        index::Transport& transport,
                                                                        Report& report);

/// The shipped families and the user's, with the mirrors of --family.
[[nodiscard]] Outcome<std::unique_ptr<index::FamilyBook>> all_families(const Arguments& arguments,
                                                                       index::Transport& transport,
                                                                       Report& report);

/// --torch-backend, else UV_TORCH_BACKEND; nullopt when neither is given. Error: usage for what is
/// no backend.
[[nodiscard]] Outcome<std::optional<std::string>> torch_backend(const Arguments& arguments);

}  // namespace axle::session
