#pragma once
// A condition on machines: "system = linux and arch = x86_64 and glibc >= 2.28 and driver >= 570.26
// and sm in {80, 90}". A lock says with it for which machines an answer holds. docs/predicates.md
// has the grammar.
//
// What is unknown of a machine counts as not there, as it does where a build is chosen: it meets
// "lacks", "<" and "= none", and nothing else.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/error.h"
#include "providers/gpu_policy.h"
#include "resolver/predicate/machine_facts.h"

namespace axle::resolver {

/// In a set of GPUs: machines whose GPUs differ meet it, too, if each of them is in the set.
inline constexpr std::string_view mixed_gpus = "mixed";

enum class AtomKind : std::uint8_t { equal, one_of, none, at_least, below, has, lacks };

/// One fact and what it must be.
struct Atom {
  /// As in machine_facts.h, with other words for some: "libc" is "glibc" or "musl"; "glibc" and
  /// "musl" have versions; "driver" is the first release of an NVIDIA driver branch ("570.26"), and
  /// stands for the CUDA version that this branch runs; "cuda" is that version itself, where no
  /// branch is known for it; "cpu" has capabilities, "property" properties.
  std::string fact;
  AtomKind kind = AtomKind::equal;
  /// None of `none`; of `one_of` at least two, ascending, "none" among them perhaps; else one.
  std::vector<std::string> values = {};
  friend bool operator==(const Atom&, const Atom&) = default;
};

/// All atoms hold. None: every machine meets it.
struct Predicate {
  std::vector<Atom> atoms = {};  ///< in the order of fact_rows(), each fact's bounds together
  friend bool operator==(const Predicate&, const Predicate&) = default;
};

/// Puts atoms and their values in order, and sets of one value in the short form.
void put_in_order(Predicate& predicate);

/// "any machine" if it has no atoms; else its atoms, joined by " and ".
[[nodiscard]] std::string render_predicate(const Predicate& predicate);
[[nodiscard]] std::string render_atom(const Atom& atom);
/// What render_predicate writes, in any order. Errors: malformed: an unknown fact (the nearest
/// known), a value that the fact cannot have, an atom that contradicts another: no machine meets
/// both.
[[nodiscard]] Result<Predicate> parse_predicate(std::string_view text);

/// The system that it needs, also where it follows from a C library or a version of macOS; "": any,
/// or one of several.
[[nodiscard]] std::string_view system_needed(const Atom& atom);

/// The one that stands for a CUDA version: `fact` "driver", or "cuda" where no branch is known.
[[nodiscard]] Atom driver_atom(AtomKind kind, std::string_view cuda);

/// An atom that a machine does not meet, and what it has.
struct Misfit {
  Atom atom;
  std::string seen;  ///< "driver 550.54 runs CUDA up to 12.4"; "none, or it is unknown"
};

/// Empty: it holds. Of properties that plugins tell of, `facts` has those that they support.
[[nodiscard]] std::vector<Misfit> misfits(const Predicate& predicate, const FactValues& facts);
/// The same of a machine's facts; of its driver with the version.
[[nodiscard]] std::vector<Misfit> misfits(const Predicate& predicate,
                                          const detect::Machine& machine,
                                          const providers::GpuPolicy& policy);
/// "driver >= 570.26 (driver 550.54 runs CUDA up to 12.4)"
[[nodiscard]] std::string render_misfit(const Misfit& misfit);

/// Which of several predicates a machine is nearest to: the one with the fewest misfits, among
/// equals one that is for its system and architecture, then the first. `all` is what `misfits` gave
/// for each. Not of an empty list.
[[nodiscard]] std::size_t nearest_of(const std::vector<std::vector<Misfit>>& all);

}  // namespace axle::resolver
