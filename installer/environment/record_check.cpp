#include "installer/environment/record_check.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/environment/evaluated_metadata.h"
#include "installer/environment/ownership.h"
#include "installer/file_access.h"
#include "installer/file_hash.h"
#include "wheel/variant/variant_markers.h"

namespace axle::installer {
namespace {

bool is_byte_code(std::string_view path) {
  return path.contains("__pycache__/") || path.ends_with(".pyc");
}

/// RECORD has no hash of itself and of its signatures.
bool may_lack_hash(std::string_view path) {
  return path.ends_with(".dist-info/RECORD") || path.ends_with(".dist-info/RECORD.jws") ||
         path.ends_with(".dist-info/RECORD.p7s");
}

bool is_newer(const struct stat& file, const struct stat& than) {
  return std::tie(file.st_mtim.tv_sec, file.st_mtim.tv_nsec) >
         std::tie(than.st_mtim.tv_sec, than.st_mtim.tv_nsec);
}

/// Files of the store are shared through links: an edit changes all of them.
std::string shared_by(const struct stat& status, bool is_link) {
  if (is_link) return "; it is a symbolic link to a file that others may have, too";
  if (status.st_nlink < 2) return {};
  return fmt::format("; {} more hard links to it exist, in other environments or the store",
                     status.st_nlink - 1);
}

class RecordComparison {
 public:
  RecordComparison(const InstalledDistribution& distribution, PathResolver& resolver,
                   ContentCheck check)
      : distribution_(distribution), resolver_(resolver), check_(check) {
    compares_content_ = distribution.installer != "conda" &&
                        ::stat((distribution.dist_info + "/RECORD").c_str(), &record_) == 0;
  }

  void compare(const wheel::RecordEntry& entry) {
    const auto resolved = record_target(distribution_, entry.path, resolver_);
    if (!resolved) return;
    const std::optional<std::string>& target = *resolved;
    if (!target) return add(entry, RecordFault::outside, "leads outside the environment");
    struct stat status = {};
    if (::lstat(target->c_str(), &status) != 0) return say_absent(entry, errno, "is missing");
    const bool is_link = S_ISLNK(status.st_mode);
    if (is_link && ::stat(target->c_str(), &status) != 0)
      return say_absent(entry, errno, "is a dangling link");
    if (!S_ISREG(status.st_mode)) return add(entry, RecordFault::missing, "is not a file");
    if (compares_content_) compare_content(entry, *target, status, is_link);
  }

  void compare_metadata() {
    const std::string path =
        distribution_.dist_info.substr(distribution_.dist_info.rfind('/') + 1) + "/METADATA";
    const bool mentions = std::ranges::any_of(
        distribution_.metadata.requires_dist, [](const wheel::Requirement& requirement) {
          return requirement.marker && wheel::mentions_variant(*requirement.marker);
        });
    auto expected = read_evaluated_metadata(distribution_.dist_info);
    std::string fact;
    if (!expected) {
      fact = expected.error().message;
    } else if (*expected) {
      const auto text = read_file(distribution_.dist_info + "/METADATA", metadata_limit);
      if (text && *text != **expected)
        fact = fmt::format("does not match {} with the markers of {}", original_metadata,
                           marker_values_file);
    } else if (mentions) {
      fact = "has markers about the variant, which pip and uv cannot read";
    }
    if (!fact.empty()) faults_.push_back({path, RecordFault::metadata, std::move(fact)});
  }

  [[nodiscard]] std::vector<FaultyFile> take() && { return std::move(faults_); }

 private:
  /// `code` is an errno.
  void say_absent(const wheel::RecordEntry& entry, int code, std::string_view absent) {
    if (code == EACCES || code == EPERM) return;
    const bool gone = code == ENOENT || code == ENOTDIR || code == ELOOP;
    add(entry, RecordFault::missing,
        gone ? std::string(absent) : fmt::format("cannot be read: {}", std::strerror(code)));
  }

  void compare_content(const wheel::RecordEntry& entry, const std::string& target,
                       const struct stat& status, bool is_link) {
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (entry.size && size != *entry.size) {
      return add(entry, size < *entry.size ? RecordFault::cut_off : RecordFault::changed,
                 fmt::format("has {} bytes, RECORD has {}{}", size, *entry.size,
                             shared_by(status, is_link)));
    }
    if (entry.sha256.empty()) {
      if (entry.stronger_hash.empty() && !may_lack_hash(entry.path))
        add(entry, RecordFault::no_hash, "has no hash in RECORD");
      return;
    }
    if (check_ == ContentCheck::size_and_time && !is_newer(status, record_)) return;
    std::error_code none;
    const auto hash =
        hash_file(AT_FDCWD, is_link ? std::filesystem::canonical(target, none).string() : target);
    if (!hash && ::access(target.c_str(), R_OK) == 0) {
      add(entry, RecordFault::missing, hash.error().message);
    } else if (hash && *hash != entry.sha256) {
      add(entry, RecordFault::changed,
          "differs from its hash in RECORD" + shared_by(status, is_link));
    }
  }

  void add(const wheel::RecordEntry& entry, RecordFault fault, std::string fact) {
    faults_.push_back({entry.path, fault, std::move(fact)});
  }

  const InstalledDistribution& distribution_;
  PathResolver& resolver_;
  ContentCheck check_;
  struct stat record_ = {};
  bool compares_content_ = false;
  std::vector<FaultyFile> faults_;
};

}  // namespace

std::vector<FaultyFile> compare_with_record(const InstalledDistribution& distribution,
                                            const std::vector<wheel::RecordEntry>& record,
                                            PathResolver& resolver, ContentCheck check) {
  RecordComparison comparison(distribution, resolver, check);
  for (const wheel::RecordEntry& entry : record) {
    if (!is_byte_code(entry.path)) comparison.compare(entry);
  }
  comparison.compare_metadata();
  return std::move(comparison).take();
}

}  // namespace axle::installer
