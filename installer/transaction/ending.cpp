#include "installer/transaction/ending.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "installer/durability/unflushed_marks.h"
#include "installer/file_access.h"
#include "installer/store/spare_tree.h"
#include "installer/store/stored_entries.h"
#include "installer/transaction/rolling.h"
#include "installer/tree/byte_code_names.h"
#include "installer/tree/remove_tree.h"
#include "installer/tree/tree_listing.h"

namespace axle::installer {
namespace {

/// Whether it is of the files that the store has now; it may have got them anew.
bool is_of_entry(const ReturnedLinks& links) {
  const auto stored =
      look_at(fmt::format("{}/tree/{}/{}", links.entry, links.name, links.folder.largest));
  return stored && *stored && (*stored)->st_ino == links.folder.inode;
}

/// Moves the byte code in `thing` away, to names that begin with `to`. False: some may be left.
bool leave_byte_code(const std::string& thing, const LinkedFolder& folder, const std::string& to) {
  const auto opened = open_folder(thing);
  if (!opened) return false;
  unsigned number = 0;
  return std::ranges::all_of(folder.with_byte_code, [&](const std::string& below) {
    const Descriptor modules = open_below(opened->get(), below);
    return modules && ::renameat(modules.get(), std::string(byte_code_folder).c_str(), AT_FDCWD,
                                 fmt::format("{}-{}", to, number++).c_str()) == 0;
  });
}

/// What the store does not keep, and what had its place there, is in `discard` then.
void return_links(const std::string& discard, const std::vector<ReturnedLinks>& returned) {
  for (const ReturnedLinks& links : returned) {
    const std::string thing = fmt::format("{}/old/{}", discard, links.number);
    const std::string byte_code = fmt::format("{}/byte-code-{}", discard, links.number);
    if (is_of_entry(links) && leave_byte_code(thing, links.folder, byte_code))
      keep_spare(links.entry, thing, links.name);
  }
}

}  // namespace

std::vector<ReturnedLinks> find_returned_links(const Removal& removal,
                                               const std::vector<RecordedPackage>& before,
                                               const std::string& store) {
  std::vector<ReturnedLinks> returned;
  if (store.empty()) return returned;
  for (std::uint32_t number = 0; number < removal.things.size(); ++number) {
    const std::string& thing = removal.things[number];
    const auto linked = removal.linked.find(thing);
    const auto packages = removal.packages.find(thing);
    if (linked == removal.linked.end() || packages == removal.packages.end() ||
        packages->second.size() != 1)
      continue;
    const auto package = std::ranges::find_if(before, [&](const RecordedPackage& one) {
      return one.wheel.name == *packages->second.begin();
    });
    if (package == before.end() || !is_wheel_name(package->wheel.sha256)) continue;
    returned.push_back({number, fmt::format("{}/wheels/{}", store, package->wheel.sha256),
                        thing.substr(thing.rfind('/') + 1), linked->second});
  }
  return returned;
}

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

Result<void> retire(const TransactionFolder& folder, Report& report,
                    const std::vector<ReturnedLinks>& returned) {
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
  return_links(discard, returned);
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
