#pragma once
// The moves of a transaction, forward and back. Both may be repeated from any point.

#include <set>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/transaction/transaction_folder.h"

namespace axle::installer {

/// Moves of `left_alone` (Move::packages) are not made. On an error some moves are made.
[[nodiscard]] Result<void> roll_forward(const TransactionFolder& folder, const Journal& journal,
                                        const std::set<std::string>& left_alone);

/// Files that other programs have changed or created are kept, with a warning.
[[nodiscard]] Result<void> roll_back(const TransactionFolder& folder, const Journal& journal,
                                     const std::set<std::string>& left_alone, Report& report);

}  // namespace axle::installer
