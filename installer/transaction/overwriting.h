#pragma once
// Which package has a file that several own (--overwrite), and what is told to the others: their
// RECORD has what is there, and overwritten.h whose it is.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "installer/environment/installed.h"
#include "installer/environment/overwritten.h"
#include "installer/environment/roots.h"
#include "installer/transaction/new_package.h"
#include "plan/resolution.h"

namespace axle::installer {

/// A file of a package in whose place another one's is, or will be.
struct OverwrittenPath {
  std::string path;     ///< absolute
  std::string package;  ///< "name version" that has it then
  std::string owner;    ///< "name version" that had it, or would have; empty: no package
};

/// Who may have a file that another package owns.
class OverwriteConsent {
 public:
  /// `all`: --overwrite. Otherwise what was settled stays so: a file of `installed` that another
  /// one of them has overwritten may be that one's again. Error: io.
  [[nodiscard]] static Result<OverwriteConsent> read(
      bool all, const std::vector<InstalledDistribution>& installed, const Roots& roots);

  /// `files` of a package that comes back, whose modules are in the folder `site`, were those of
  /// others: they are again, whatever the order.
  void restore(const OverwrittenFiles& files, std::string_view site);

  [[nodiscard]] bool is_for_all() const { return all_; }
  /// What was settled counts more than the order.
  [[nodiscard]] bool keeps_settled() const { return !all_ || restores_; }
  [[nodiscard]] bool is_given() const { return all_ || !settled_.empty(); }
  /// Whether `package` may have the file `path` of others.
  [[nodiscard]] bool allows(const std::string& path, std::string_view package) const {
    return all_ || has_settled(path, package);
  }
  [[nodiscard]] bool is_settled(const std::string& path) const { return settled_.contains(path); }
  [[nodiscard]] bool has_settled(const std::string& path, std::string_view package) const {
    const auto settled = settled_.find(path);
    return settled != settled_.end() && settled->second == package;
  }
  /// The files of `distribution` that others have overwritten, as it says; nullptr: none.
  [[nodiscard]] const OverwrittenFiles* overwritten_of(
      const InstalledDistribution& distribution) const {
    const auto list = lists_.find(distribution.dist_info);
    return list == lists_.end() ? nullptr : &list->second;
  }

 private:
  bool all_ = false;
  bool restores_ = false;
  std::unordered_map<std::string, std::string> settled_;     ///< absolute path -> package
  std::unordered_map<std::string, OverwrittenFiles> lists_;  ///< by the folders of metadata
};

/// The order in which packages of one plan count as installed, as indices: each after those that it
/// requires; else what is only required before what the user named, and then by name.
[[nodiscard]] std::vector<std::size_t> installation_order(
    const std::vector<const plan::ResolvedPackage*>& packages);

/// A file that a package does not have: the content that is there instead.
struct LostFile {
  std::string path;    ///< absolute
  std::string to;      ///< name of the package whose content that is
  std::string sha256;  ///< of that, in the format of RECORD
  std::optional<std::uint64_t> size;
};

/// Settles the files of which several packages of `entering` have different contents, as far as
/// `consent` allows: the last one in `order` has it, without --overwrite the one that had it. What
/// was settled in favour of a package of `staying` stays there unless `consent` is for all. The
/// others lose theirs, which is appended to `overwritten`. Error: io.
[[nodiscard]] Result<void> settle_files(std::vector<NewPackage>& entering,
                                        const std::vector<std::size_t>& order,
                                        const OverwriteConsent& consent,
                                        const std::vector<InstalledDistribution>& staying,
                                        const Roots& roots,
                                        std::vector<OverwrittenPath>& overwritten);

/// Warns of files of `staying` packages, which `consent` has read, that are those of one of
/// `leaving`, which does not come back with them.
void warn_of_left_files(const std::vector<InstalledDistribution>& leaving,
                        const std::vector<NewPackage>& entering,
                        const std::vector<InstalledDistribution>& staying,
                        const OverwriteConsent& consent, const Roots& roots, Report& report);

/// RECORD and the list of overwritten files of an installed package that loses `lost`. Errors: io,
/// and malformed where one of them cannot be read.
[[nodiscard]] Result<std::vector<NewFile>> rewrite_metadata(
    const InstalledDistribution& distribution, const std::vector<LostFile>& lost,
    const Roots& roots);

}  // namespace axle::installer
