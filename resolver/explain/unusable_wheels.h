#pragma once
// Why none of a release's wheels can be used here, by what decides: the version of Python, the
// interpreter, the platform.

#include <string>
#include <string_view>

#include "foundation/report/fact.h"
#include "resolver/catalogue/release.h"
#include "resolver/request/target.h"

namespace axle::resolver {

/// ">=3.12", as the files that `target`'s Python does not satisfy have it, each once; empty: not
/// all of the release's files (its source distributions where it has no wheels) need another
/// Python.
[[nodiscard]] std::string other_python_needed(const Release& release, const Target& target);

/// "its wheels need glibc 2.39 or newer, but this machine has glibc 2.36". Empty: the tags of some
/// wheel fit.
[[nodiscard]] std::string explain_tags(const Release& release, const Target& target);

/// The same two as data: of the version of Python, the C library, the interpreter or the platform
/// that no wheel of the release is for. Empty: some wheel is for all of them.
[[nodiscard]] Facts unusable_facts(const Release& release, const Target& target);

}  // namespace axle::resolver
