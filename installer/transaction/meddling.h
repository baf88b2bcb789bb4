#pragma once
// What other programs changed in an environment while a transaction on it was interrupted.

#include <set>
#include <string>

#include "foundation/report/error.h"
#include "installer/transaction/transaction_folder.h"

namespace axle::installer {

struct Meddling {
  /// Those of Move::packages whose metadata is not as the transaction left it: another installer
  /// has repaired, replaced or removed them, and the result is kept.
  std::set<std::string> taken_over;
  /// Files of other packages of the transaction, which were to be removed, have changed.
  bool files_changed = false;
};

/// Compares the current files with the journal. Error: io.
[[nodiscard]] Result<Meddling> find_meddling(const TransactionFolder& folder,
                                             const Journal& journal);

}  // namespace axle::installer
