#include "installer/durability/unflushed_marks.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/boot.h"
#include "installer/file_access.h"
#include "installer/sealed_fields.h"
#include "installer/store/entry_mark.h"

namespace axle::installer {
namespace {

/// Linux begins to write what was changed after 30 seconds, looks every 5, and commits names every
/// 5 (dirty_expire_centisecs, dirty_writeback_centisecs, ext4's commit=): several times as long.
constexpr std::int64_t enough_seconds = 120;
constexpr std::uint64_t record_limit = 1ULL << 30;
constexpr std::string_view made_ending = "made";

std::string state_of(const std::string& base) { return base + "/.axle"; }
std::string folder_of(const std::string& base) { return state_of(base) + "/unflushed"; }

std::string made_path(const std::string& base, std::uint64_t number) {
  return fmt::format("{}/{}.{}", folder_of(base), number, made_ending);
}

/// "<number>.<boot>.<seconds>.<inode>".
struct MarkName {
  std::uint64_t number = 0;
  std::string boot;
  std::int64_t seconds = 0;
  std::uint64_t inode = 0;
};

std::optional<MarkName> parse_name(std::string_view name) {
  std::array<std::string_view, 4> parts;
  for (std::string_view& part : parts) {
    const std::size_t end = std::min(name.find('.'), name.size());
    part = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  MarkName parsed;
  parsed.boot = parts[1];
  const bool good = name.empty() && system::is_boot_id(parsed.boot) &&
                    read_number(parts[0], parsed.number) && read_number(parts[2], parsed.seconds) &&
                    read_number(parts[3], parsed.inode);
  return good ? std::optional(std::move(parsed)) : std::nullopt;
}

/// The names in the folder of the marks; none if there is no such folder.
Result<std::vector<std::string>> list_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  if (error && says_absent(error.value())) return names;
  for (const std::filesystem::directory_iterator end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) return std::unexpected(system_error("read", folder, error.value()));
  return names;
}

Result<void> flush_descriptor(int fd, const std::string& path) {
  if (::fsync(fd) == 0) return {};
  // A file system that cannot do it for one alone.
  if ((errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) && ::syncfs(fd) == 0) return {};
  return std::unexpected(system_error("write to disk", path, errno));
}

Result<void> flush_folder(const std::string& path) {
  auto folder = open_folder(path);
  if (!folder) return std::unexpected(folder.error());
  return flush_descriptor(folder->get(), path);
}

Result<void> remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || says_absent(errno)) return {};
  return std::unexpected(system_error("remove", path, errno));
}

/// The file gets its name before its content is written to disk, so that one journal commit of the
/// file system is enough for both: a record that is cut off promises nothing.
Result<void> write_mark(const std::string& folder, std::uint64_t number, const std::string& boot,
                        std::string_view text) {
  const std::string draft = folder + "/draft";
  const Descriptor file(
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file) return std::unexpected(system_error("create", draft, errno));
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return std::unexpected(system_error("read", draft, errno));
  auto done = write_all(file.get(), text, draft);
  const std::string path = fmt::format("{}/{}.{}.{}.{}", folder, number, boot,
                                       system::seconds_since_boot(), status.st_ino);
  if (done && ::rename(draft.c_str(), path.c_str()) != 0)
    done = std::unexpected(system_error("create", path, errno));
  if (done) done = flush_descriptor(file.get(), path);
  if (!done) {
    (void)::unlink(draft.c_str());
    (void)::unlink(path.c_str());
  }
  return done;
}

}  // namespace

Result<UnflushedMarks> find_unflushed(const std::string& base, Copies copies) {
  UnflushedMarks marks;
  const std::string folder = folder_of(base);
  auto names = list_names(folder);
  if (!names) return std::unexpected(names.error());
  if (names->empty()) return marks;
  const std::set<std::string> all(names->begin(), names->end());
  const std::string boot = system::boot_id();
  for (const std::string& name : *names) {
    const auto parsed = parse_name(name);
    if (!parsed) continue;
    const std::string path = folder + "/" + name;
    const auto status = look_at(path);
    if (!status) return std::unexpected(status.error());
    if (!*status) continue;
    if ((*status)->st_ino != parsed->inode) {
      if (copies == Copies::leave) continue;
      if (auto removed = remove_file(path); !removed) return std::unexpected(removed.error());
      continue;
    }
    const bool made = all.contains(fmt::format("{}.{}", parsed->number, made_ending));
    (parsed->boot == boot ? marks.own : marks.foreign)
        .push_back({parsed->number, parsed->seconds, path, made});
  }
  for (auto* list : {&marks.own, &marks.foreign})
    std::ranges::sort(*list, {}, &UnflushedMark::number);
  return marks;
}

Result<void> promise_change(const std::string& base, const std::string& rendered) {
  const std::string boot = system::boot_id();
  if (boot.empty()) return flush_file_system(state_of(base));
  const std::string folder = folder_of(base);
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return std::unexpected(system_error("create", folder, errno));
  auto names = list_names(folder);
  if (!names) return std::unexpected(names.error());
  std::uint64_t number = 0;
  for (const std::string& name : *names) {
    std::uint64_t used = 0;
    if (read_number(std::string_view(name).substr(0, name.find('.')), used))
      number = std::max(number, used);
  }
  ++number;
  if (auto done = write_mark(folder, number, boot, rendered); !done) return done;
  for (const std::string& above : {folder, state_of(base), base}) {
    if (auto done = flush_folder(above); !done) {
      (void)withdraw_promises(base, Withdrawn::never_visible);
      return done;
    }
  }
  return {};
}

Result<void> say_made(const std::string& base, const UnflushedMark& mark) {
  const std::string path = made_path(base, mark.number);
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!file) return std::unexpected(system_error("create", path, errno));
  return {};
}

Result<void> fulfil_promises(const std::string& base) {
  auto marks = find_unflushed(base, Copies::leave);
  if (!marks) return std::unexpected(marks.error());
  for (const UnflushedMark& mark : marks->own) {
    if (mark.made) continue;
    if (auto said = say_made(base, mark); !said) return said;
  }
  return {};
}

Result<void> withdraw_promises(const std::string& base, Withdrawn how) {
  auto marks = find_unflushed(base, Copies::leave);
  if (!marks) return std::unexpected(marks.error());
  std::erase_if(marks->own, [](const UnflushedMark& mark) { return mark.made; });
  if (marks->own.empty()) return {};
  if (how == Withdrawn::undone) {
    if (auto flushed = flush_file_system(state_of(base)); !flushed) return flushed;
  }
  if (auto removed = remove_marks(base, marks->own); !removed) return removed;
  return flush_folder(folder_of(base));
}

Result<void> forget_flushed(const std::string& base) {
  auto marks = find_unflushed(base, Copies::leave);
  if (!marks) return std::unexpected(marks.error());
  if (marks->own.empty()) return {};
  const std::int64_t last =
      std::ranges::max_element(marks->own, {}, &UnflushedMark::seconds)->seconds;
  const bool complete = std::ranges::all_of(marks->own, &UnflushedMark::made);
  if (!complete || system::seconds_since_boot() - last < enough_seconds) return {};
  std::set<std::string> entries;
  for (const UnflushedMark& mark : marks->own) {
    const auto change = read_mark(mark);
    if (!change) continue;  // entries of the store keep marks of their own
    for (const PromisedPackage& package : change->packages)
      entries.insert(change->store + "/wheels/" + package.wheel.sha256);
  }
  if (auto flushed = flush_file_system(state_of(base)); !flushed) return flushed;
  forget_unflushed_entries(entries, state_of(base));
  return remove_marks(base, marks->own);
}

Result<void> remove_marks(const std::string& base, const std::vector<UnflushedMark>& marks) {
  for (const UnflushedMark& mark : marks) {
    // First the mark: without its "made" it would ask for the change again.
    if (auto removed = remove_file(mark.path); !removed) return removed;
    if (auto removed = remove_file(made_path(base, mark.number)); !removed) return removed;
  }
  return {};
}

Result<void> flush_file_system(const std::string& folder) {
  auto opened = open_folder(folder);
  if (!opened) return std::unexpected(opened.error());
  if (::syncfs(opened->get()) != 0)
    return std::unexpected(system_error("write to disk", folder, errno));
  return {};
}

Result<UnflushedChange> read_mark(const UnflushedMark& mark) {
  auto text = read_file(mark.path, record_limit);
  if (!text) return std::unexpected(text.error());
  return parse_unflushed(*text, mark.path);
}

}  // namespace axle::installer
