#pragma once
// Why requirements cannot be met together, as data: what is asked for, what packages need, what
// this machine lacks, and what follows. The error, --explain and --json render the same object.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/fact.h"
#include "plan/decision.h"

namespace axle::plan {

enum class StatementKind : std::uint8_t {
  request,       ///< the user asks for it
  constraint,    ///< of the user's
  requirement,   ///< versions of a package require another one
  abi,           ///< builds were linked with another package
  backend,       ///< builds are for one backend, or need another package to have theirs
  family,        ///< versions of a package go with those of the first member of its family
  same_modules,  ///< two packages install the same modules
  unusable,      ///< versions cannot be used here
  not_asked,     ///< pre-releases or yanked releases that nobody asks for
  kept,          ///< what is installed stays, and has what it needs
  conclusion,    ///< follows from others
};

/// "request", "not-asked", …: as JSON says it.
[[nodiscard]] std::string_view render_statement_kind(StatementKind kind);

/// What some versions of a package need.
struct StatedNeed {
  std::vector<std::string> versions;  ///< oldest first; of a request: none
  std::string needs;                  ///< "lib<2", "torch 2.9 or 2.10", "cu130"
};

struct Statement {
  StatementKind kind = StatementKind::conclusion;
  std::string package = {};                ///< that it is about; empty: the user, or several
  std::vector<std::string> versions = {};  ///< of `package`, oldest first
  std::string needed = {};                 ///< the package that is needed; empty: none
  std::vector<StatedNeed> needs = {};      ///< of the newest versions first
  Facts facts = {};                        ///< unusable: of the platform and the interpreter
  std::vector<Verdict> rejected = {};      ///< unusable: builds of the newest of them, with facts
  std::string text;                        ///< the sentence, without a full stop
  bool told = false;                       ///< the error's message says it already
  std::vector<std::size_t> from = {};      ///< of a conclusion: places of earlier statements
};

/// Premises in the order in which the requests lead to them, then what follows from them. Empty:
/// the failure is not one of requirements.
struct Conflict {
  std::string package;  ///< of which nothing is left
  std::vector<Statement> statements;
};

/// What the message leaves open, in as few lines as the reader of a terminal has patience for.
[[nodiscard]] std::vector<std::string> short_lines(const Conflict& conflict);

/// Every statement with its number, and of a conclusion the numbers that it follows from.
[[nodiscard]] std::vector<std::string> whole_derivation(const Conflict& conflict);

}  // namespace axle::plan
