#pragma once
// A condition on machines: "system = linux and arch = x86_64 and glibc >= 2.28 and driver >= 570.26
// and sm in {90}". A lock says with it for which machines an answer holds.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/error.h"

namespace axle::machines {

enum class AtomKind : std::uint8_t { equal, at_least, below, one_of, none, has, lacks };

/// One fact and what it must be.
struct Atom {
  std::string fact;  ///< "driver", "sm", "gfx", "glibc", "x86_64", "arch", "cpu", …
  AtomKind kind = AtomKind::equal;
  std::vector<std::string> values;  ///< one; of `one_of` several, sorted
  friend bool operator==(const Atom&, const Atom&) = default;
};

/// All atoms hold. None: every machine fulfils it.
struct Predicate {
  std::vector<Atom> atoms;  ///< in the order of predicate_facts()
  friend bool operator==(const Predicate&, const Predicate&) = default;
};

[[nodiscard]] std::string render_predicate(const Predicate& predicate);
/// Errors: malformed: an unknown fact (the nearest known), a value that cannot be, an atom that
/// contradicts another: nobody fulfils it.
[[nodiscard]] Result<Predicate> parse_predicate(std::string_view text);

/// An atom that a machine does not fulfil, and what the machine has.
struct Misfit {
  Atom atom;
  std::string seen;  ///< "driver 550.54"; "unknown" where the machine does not state it
};

/// Empty: it holds. An unknown fact fulfils nothing.
[[nodiscard]] std::vector<Misfit> misfits(const Predicate& predicate,
                                          const detect::Machine& machine);

}  // namespace axle::machines
