#include "installer/durability/power_loss.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "foundation/system/shell_command.h"
#include "installer/durability/promises.h"
#include "installer/durability/unflushed_marks.h"
#include "installer/durability/wheel_again.h"
#include "installer/file_access.h"
#include "installer/file_hash.h"
#include "installer/history/history.h"
#include "installer/transaction/ending.h"
#include "installer/transaction/transaction_folder.h"
#include "installer/tree/byte_code_names.h"
#include "wheel/requirement.h"

namespace axle::installer {
namespace {

namespace fs = std::filesystem;

/// Below this, comparing is not worth a word.
constexpr std::uint64_t worth_a_word = 256U << 20;

enum class FileState : std::uint8_t {
  good,
  damaged,  ///< missing, or older than the change and other than it promised
  foreign,  ///< another program put something else there
};

bool is_newer(const struct stat& status, std::int64_t than) {
  return nanoseconds_of(status.st_mtim) > than;
}

/// A link into the store (--link-mode symlink); what it leads to may be damaged, too.
Result<FileState> look_at_link(const std::string& path, const PromisedFile& file) {
  std::error_code none;
  const std::string target = fs::read_symlink(path, none).string();
  if (none || !target.ends_with("/tree/" + file.stored)) return FileState::foreign;
  const auto hash = hash_file(AT_FDCWD, target);
  return hash && *hash == file.sha256 ? FileState::good : FileState::damaged;
}

Result<FileState> look_at_file(const std::string& base, const PromisedFile& file,
                               std::int64_t latest) {
  const std::string path = base + "/" + file.path;
  const auto status = look_at(path);
  if (!status) return std::unexpected(status.error());
  if (!*status) return FileState::damaged;
  if (S_ISLNK((*status)->st_mode)) return look_at_link(path, file);
  if (!S_ISREG((*status)->st_mode)) return FileState::foreign;
  if (static_cast<std::uint64_t>((*status)->st_size) == file.size) {
    const auto hash = hash_file(AT_FDCWD, path);
    if (hash && *hash == file.sha256) return FileState::good;
    // A sector that cannot be read is damage too; a missing right is not.
    if (!hash && ::access(path.c_str(), R_OK) != 0) return std::unexpected(hash.error());
  }
  return is_newer(**status, latest) ? FileState::foreign : FileState::damaged;
}

/// "lib/site-packages/demo-1.0.dist-info" -> "demo".
std::string package_of(std::string_view dist_info) {
  const std::string_view folder = dist_info.substr(dist_info.rfind('/') + 1);
  return wheel::normalize_name(folder.substr(0, folder.find('-')));
}

class PowerLoss {
 public:
  PowerLoss(const std::string& base, index::Transport* transport, Report& report)
      : folder_(base), transport_(transport), report_(report) {}

  Result<void> recover() {
    auto marks = find_unflushed(folder_.base, Copies::remove);
    if (!marks) return std::unexpected(marks.error());
    if (marks->foreign.empty()) return {};
    if (auto read = read_changes(*marks); !read) return read;
    const Promises promises(changes_);
    if (auto done = finish_leaving(promises); !done) return done;
    if (auto chosen = choose_packages(promises); !chosen) return chosen;
    if (auto compared = compare(promises); !compared) return compared;
    if (auto restored = restore(); !restored) return restored;
    return finish();
  }

 private:
  /// Those that can be read, in their order; foreign ones that began nothing are left out.
  Result<void> read_changes(const UnflushedMarks& marks) {
    own_begun_ = !std::ranges::all_of(marks.own, &UnflushedMark::made);
    std::map<std::uint64_t, std::pair<const UnflushedMark*, bool>> all;  // foreign?
    for (const UnflushedMark& mark : marks.own) all.emplace(mark.number, std::pair(&mark, false));
    for (const UnflushedMark& mark : marks.foreign)
      all.emplace(mark.number, std::pair(&mark, true));
    for (const auto& [number, entry] : all) {
      const auto& [mark, foreign] = entry;
      auto change = read_mark(*mark);
      if (change) {
        changes_.push_back(std::move(*change));
        marks_.push_back(*mark);
        foreign_.push_back(foreign);
        continue;
      }
      if (change.error().kind == ErrorKind::io) return std::unexpected(change.error());
      if (foreign) set_aside(*mark, change.error());
    }
    return {};
  }

  /// A record that was not written completely is of a change that never began.
  void set_aside(const UnflushedMark& mark, const Error& why) {
    const bool other_version = why.kind == ErrorKind::unsupported;
    if (mark.made || other_version) {
      report_.warn(
          fmt::format("what was installed before this machine was last started cannot be "
                      "compared: {}",
                      why.message),
          fmt::format("`variant check --deep` compares every file; {}",
                      other_version ? fmt::format("the Axle that wrote it, or `rm '{}'`, ends this "
                                                  "warning",
                                                  mark.path)
                                    : "what it names can be installed again with --reinstall"));
    }
    if (other_version) unknown_ = true;
    if (!other_version) settled_.push_back(mark);
  }

  /// Removes what changes took away that were perhaps not made completely.
  Result<void> finish_leaving(const Promises& promises) {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (!foreign_[i] || marks_[i].made) continue;
      begun_ = true;
      for (const LeavingThing& thing : changes_[i].leaving) {
        if (auto removed = remove_thing(thing, promises); !removed) return removed;
      }
    }
    return {};
  }

  Result<void> remove_thing(const LeavingThing& thing, const Promises& promises) {
    const std::string path = folder_.base + "/" + thing.path;
    auto present = list_leaves(path);
    if (!present) return std::unexpected(present.error());
    Leaves ours;
    for (const Leaf& leaf : *present) {
      const auto known = std::ranges::find(thing.leaves, leaf.path, &Leaf::path);
      const std::string place = leaf.path.empty() ? thing.path : thing.path + "/" + leaf.path;
      const bool unchanged = known != thing.leaves.end() && leaf.modified <= known->modified &&
                             (leaf.modified == known->modified || leaf.size < known->size);
      if (unchanged && !promises.files().contains(place)) ours.push_back(leaf);
    }
    // Without files too: an interrupted recovery leaves their folders.
    const auto there = exists(path);
    if (!there) return std::unexpected(there.error());
    if (!*there) return {};
    const std::string trash = folder_.discard + "-lost";
    if (::mkdir(trash.c_str(), 0777) != 0 && errno != EEXIST)
      return std::unexpected(system_error("create", trash, errno));
    changed_ = changed_ || !ours.empty() || present->empty();
    // An interrupted recovery may have left some there.
    std::string place;
    for (bool taken = true; taken;) {
      place = fmt::format("{}/{}", trash, ++trashed_);
      const auto left = exists(place);
      if (!left) return std::unexpected(left.error());
      taken = *left;
    }
    return move_known(path, place, ours);
  }

  /// Packages that another program removed, replaced or installed again are no longer ours.
  Result<void> choose_packages(const Promises& promises) {
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      ours_.emplace_back();
      for (const PromisedPackage& package : changes_[i].packages) {
        if (!foreign_[i]) {
          ours_.back().push_back(false);
          continue;
        }
        auto taken = is_taken_over(package, i, promises);
        if (!taken) return std::unexpected(taken.error());
        ours_.back().push_back(!*taken);
      }
    }
    return {};
  }

  Result<bool> is_taken_over(const PromisedPackage& package, std::size_t change,
                             const Promises& promises) {
    const auto record =
        std::ranges::find(package.files, package.dist_info + "/RECORD", &PromisedFile::path);
    if (record == package.files.end()) return false;
    // A later change may have written another RECORD for the same package.
    const auto last = promises.files().find(record->path);
    const bool later = last != promises.files().end();
    const auto state = look_at_file(folder_.base, later ? *last->second.file : *record,
                                    changes_[later ? last->second.change : change].latest);
    if (!state) return std::unexpected(state.error());
    if (*state != FileState::damaged) return *state == FileState::foreign;
    const auto there = exists(folder_.base + "/" + package.dist_info);
    if (!there) return std::unexpected(there.error());
    if (*there) return false;
    // Metadata comes last: where the change was made, somebody removed it since.
    if (marks_[change].made) return true;
    return has_other_version(package);
  }

  Result<bool> has_other_version(const PromisedPackage& package) {
    const std::string site =
        folder_.base + "/" + package.dist_info.substr(0, package.dist_info.find_last_of('/') + 1);
    std::error_code error;
    for (fs::directory_iterator entry(site, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!name.ends_with(".dist-info") || package_of(name) != package.wheel.name) continue;
      const auto record = exists(entry->path().string() + "/RECORD");
      if (!record) return std::unexpected(record.error());
      if (*record) return true;
    }
    if (error && !says_absent(error.value()))
      return std::unexpected(system_error("read", site, error.value()));
    return false;
  }

  /// Finds the damaged files.
  Result<void> compare(const Promises& promises) {
    std::vector<Promise> open;
    std::uint64_t bytes = 0;
    for (const auto& [path, promise] : promises.files()) {
      if (!ours_[promise.change][promise.package]) continue;
      open.push_back(promise);
      bytes += promise.file->size;
    }
    if (bytes >= worth_a_word) {
      report_.note(
          fmt::format("comparing {} files that were installed before this machine was "
                      "last started with their hashes",
                      open.size()));
    }
    std::vector<FileState> states(open.size(), FileState::good);
    std::mutex mutex;
    std::optional<Error> failed;
    std::atomic<bool> ended = false;
    system::for_each_at_once(open.size(), system::usable_processors(), [&](std::size_t i) {
      if (ended) return;
      const auto state = look_at_file(folder_.base, *open[i].file, changes_[open[i].change].latest);
      if (state) {
        states[i] = *state;
        return;
      }
      const std::lock_guard lock(mutex);
      if (!failed) failed = state.error();
      ended = true;
    });
    if (failed) return std::unexpected(std::move(*failed));
    remove_byte_code(open);
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (states[i] == FileState::damaged)
        damaged_[{open[i].change, open[i].package}].push_back(open[i].file);
    }
    return {};
  }

  /// Nothing is promised of byte code, and an interpreter believes what it finds: it is made anew.
  /// What another user has compiled is that user's.
  void remove_byte_code(const std::vector<Promise>& open) {
    std::map<std::string, std::set<std::string>> modules;  // by folder
    for (const Promise& promise : open) {
      const std::string& path = promise.file->path;
      if (!path.ends_with(".py")) continue;
      const std::size_t name = path.rfind('/') + 1;
      modules[path.substr(0, name)].insert(path.substr(name, path.size() - name - 3));
    }
    for (const auto& [folder, names] : modules) {
      const std::string cache = fmt::format("{}/{}{}", folder_.base, folder, byte_code_folder);
      std::error_code error;
      for (fs::directory_iterator entry(cache, error), end; !error && entry != end;
           entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (!names.contains(byte_code_stem(name))) continue;
        (void)::unlink((cache + "/" + name).c_str());
      }
      (void)::rmdir(cache.c_str());  // if nothing is left in it
    }
  }

  Result<void> restore() {
    for (const auto& [place, files] : damaged_) {
      const PromisedPackage& package = changes_[place.first].packages[place.second];
      WheelAgain again(package.wheel, changes_[place.first].store, transport_, report_);
      for (const PromisedFile* file : files) {
        changed_ = true;
        if (auto made = restore_file(*file, again); !made) {
          give_up(package, made.error());
          break;
        }
        ++restored_[package.wheel.name + " " + package.wheel.version];
      }
    }
    for (const auto& [title, count] : restored_) {
      report_.note(fmt::format(
          "{}: {} {} not on the disk when this machine was last started, and "
          "{} restored",
          title, count, count == 1 ? "file was" : "files were", count == 1 ? "is" : "are"));
    }
    return {};
  }

  void give_up(const PromisedPackage& package, const Error& why) {
    unrestored_ = true;
    const WheelOrigin& wheel = package.wheel;
    report_.warn(
        fmt::format("{} {} is damaged: not all of it was on the disk when this machine was last "
                    "started, and it cannot be restored: {}",
                    wheel.name, wheel.version, why.message),
        fmt::format("`variant install --reinstall --no-deps {}` installs it again",
                    shell_word(wheel.name + "==" + wheel.version)));
  }

  /// Creates the folders above `path`, unless something else is in the way.
  Result<void> make_folders_above(const std::string& path) const {
    for (std::size_t slash = path.find('/'); slash != std::string::npos;
         slash = path.find('/', slash + 1)) {
      const std::string folder = folder_.base + "/" + path.substr(0, slash);
      if (::mkdir(folder.c_str(), 0777) == 0) continue;
      if (errno != EEXIST) return std::unexpected(system_error("create", folder, errno));
      const auto status = look_at(folder);
      if (!status) return std::unexpected(status.error());
      if (!*status || !S_ISDIR((*status)->st_mode)) {
        return fail(ErrorKind::conflict,
                    fmt::format("{} was a folder and is none any more", folder));
      }
    }
    return {};
  }

  Result<void> restore_file(const PromisedFile& file, WheelAgain& again) {
    const std::string draft = folder_.state + "/restored";
    if (::unlink(draft.c_str()) != 0 && errno != ENOENT)
      return std::unexpected(system_error("remove", draft, errno));
    auto made = file.stored.empty() ? create_file(AT_FDCWD, draft, file.content, file.executable)
                                    : again.make(file, draft);
    if (made) made = make_folders_above(file.path);
    const std::string path = folder_.base + "/" + file.path;
    if (made && ::rename(draft.c_str(), path.c_str()) != 0)
      made = std::unexpected(system_error("restore", path, errno));
    if (!made) (void)::unlink(draft.c_str());
    return made;
  }

  /// From here on everything is as it was promised.
  Result<void> finish() {
    // A transaction is one of these changes: its journal may be as damaged as its files. It is left
    // alone if it may be one that only another version of Axle knows, or one of this boot.
    if (!unknown_ && !own_begun_) {
      if (begun_) {
        if (auto adopted = adopt_or_forget_history(folder_.base); !adopted) return adopted;
      }
      const auto there = exists(folder_.path);
      if (!there) return std::unexpected(there.error());
      if (*there) {
        if (auto retired = retire(folder_, report_); !retired) return retired;
      }
      sweep_finished(folder_);
    }
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      if (!foreign_[i]) continue;
      if (!marks_[i].made) {
        if (auto said = say_made(folder_.base, marks_[i]); !said) return said;
        if (!unrestored_)
          report_.note(fmt::format("completed a command that a power failure interrupted: {}",
                                   changes_[i].title));
      }
      if (!unrestored_) settled_.push_back(marks_[i]);
    }
    if (changed_ || begun_) {
      if (auto flushed = flush_file_system(folder_.state); !flushed) return flushed;
    }
    return remove_marks(folder_.base, settled_);
  }

  TransactionFolder folder_;
  index::Transport* transport_;
  Report& report_;
  std::vector<UnflushedChange> changes_;
  // Of each change.
  std::vector<UnflushedMark> marks_;
  std::vector<bool> foreign_;
  std::vector<std::vector<bool>> ours_;  ///< for each package: it is to be compared
  std::vector<UnflushedMark> settled_;   ///< to be removed at the end
  std::map<std::pair<std::size_t, std::size_t>, std::vector<const PromisedFile*>> damaged_;
  std::map<std::string, unsigned> restored_;
  unsigned trashed_ = 0;
  bool begun_ = false;      ///< a change may have been made in part
  bool own_begun_ = false;  ///< one of this boot was perhaps not made completely
  bool unknown_ = false;    ///< a record has another format
  bool changed_ = false;    ///< the environment was
  bool unrestored_ = false;
};

}  // namespace

Result<void> recover_from_power_loss(const std::string& base, index::Transport* transport,
                                     Report& report) {
  return PowerLoss(base, transport, report).recover();
}

}  // namespace axle::installer
