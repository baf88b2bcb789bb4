#include "installer/transaction/ending.h"

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "installer/durability/unflushed_marks.h"
#include "installer/file_access.h"
#include "installer/transaction/rolling.h"
#include "installer/tree/remove_tree.h"

namespace axle::installer {

void sweep_finished(const TransactionFolder& folder) {
  std::vector<std::string> left;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder.state, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string path = entry->path().string();
    if (path == folder.discard || path.starts_with(folder.discard + "-"))
      left.push_back(std::move(path));
  }
  for (const std::string& path : left) (void)remove_tree(path);
}

Result<void> retire(const TransactionFolder& folder, Report& report) {
  sweep_finished(folder);
  std::string discard = folder.discard;
  for (unsigned number = 1;; ++number) {
    const auto taken = exists(discard);
    if (!taken) return std::unexpected(taken.error());
    if (!*taken) break;
    discard = fmt::format("{}-{}", folder.discard, number);
  }
  if (::rename(folder.path.c_str(), discard.c_str()) != 0) {
    return std::unexpected(system_error("remove", folder.path, errno));
  }
  if (const int code = remove_tree(discard); code != 0) {
    report.warn(system_error("remove", discard, code).message,
                "it is not needed: its owner may delete it, and later commands try again");
  }
  return {};
}

void say_taken_over(const Meddling& meddling, Report& report) {
  for (const std::string& packages : meddling.taken_over) {
    report.warn(
        fmt::format(
            "{}: changed by another program while a command of Axle was interrupted; kept as it is",
            packages),
        "`variant check` shows whether its requirements are met");
  }
}

Result<void> put_all_back(const TransactionFolder& folder, const Journal& journal, Report& report) {
  const auto meddling = find_meddling(folder, journal);
  if (!meddling) return std::unexpected(meddling.error());
  if (auto undone = roll_back(folder, journal, meddling->taken_over, report); !undone)
    return undone;
  if (auto withdrawn = withdraw_promises(folder.base, Withdrawn::undone); !withdrawn)
    return withdrawn;
  if (auto retired = retire(folder, report); !retired) return retired;
  say_taken_over(*meddling, report);
  return {};
}

Result<void> undo(const TransactionFolder& folder, const Journal& journal, const Error& cause,
                  Report& report) {
  constexpr std::string_view next =
      "fix that and run any command of Axle on this environment, which continues";
  if (::rename(folder.journal.c_str(), folder.undo.c_str()) != 0) {
    return fail(cause.kind, cause.message, std::string(next));
  }
  if (auto undone = put_all_back(folder, journal, report); !undone) {
    return fail(undone.error().kind,
                fmt::format("{}; and undoing it failed: {}", cause.message, undone.error().message),
                std::string(next));
  }
  return {};
}

}  // namespace axle::installer
