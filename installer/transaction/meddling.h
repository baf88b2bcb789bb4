#pragma once
// What other programs did to an environment while a transaction on it lay interrupted.

#include <set>
#include <string>

#include "foundation/report/error.h"
#include "installer/transaction/transaction_folder.h"

namespace axle::installer {

struct Meddling {
  /// Those of Move::packages whose metadata is not as the transaction left it: another installer
  /// has repaired, replaced or removed them, and what it left is theirs.
  std::set<std::string> taken_over;
  /// Files of other packages of the transaction, which were to leave, are not what they were.
  bool files_changed = false;
};

/// Compares what is there with what the journal says. Error: io.
[[nodiscard]] Result<Meddling> find_meddling(const TransactionFolder& folder,
                                             const Journal& journal);

}  // namespace axle::installer
