#pragma once
// What index families say of single packages here: which label an installed one has, which one is
// asked for, which versions go together. family_rules.h has what they say of a whole solution.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "index/family/family.h"
#include "plan/installed_package.h"
#include "resolver/catalogue/candidates.h"
#include "resolver/family/built_for.h"
#include "resolver/request/options.h"
#include "resolver/request/target.h"
#include "resolver/request/want.h"

namespace axle::resolver {

/// The platform of `target` as families have it: "linux_x86_64"; empty: one that they do not know.
[[nodiscard]] std::string builds_platform(const Target& target);

class Families {
 public:
  /// All must outlive it.
  Families(const Target& target, const std::vector<plan::InstalledPackage>& installed,
           const Options& options, Candidates& candidates)
      : target_(target), installed_(installed), options_(options), candidates_(candidates) {}

  /// The family that a package belongs to, if it is one of its members and their labels are
  /// comparable; nullptr: none.
  [[nodiscard]] const index::Family* of(std::string_view name) const;
  /// Nullptr: `name` is not installed.
  [[nodiscard]] const plan::InstalledPackage* installed(std::string_view name) const;

  /// Of all that is installed.
  [[nodiscard]] std::set<std::string> installed_names() const;

  /// The label of an installed member: as recorded, by its local version, or what the family's file
  /// says of the default index's wheel. Empty: not known.
  [[nodiscard]] std::string installed_label(const plan::InstalledPackage& package) const;
  /// The label of the first of the members that are installed; empty: none is, or it is not known.
  [[nodiscard]] std::string installed_backend(const index::Family& family) const;
  /// The label that a member without one of its own corresponds to: its known local version, else
  /// what the family's file says of the default index's wheel. Empty: not known.
  [[nodiscard]] std::string plain_label(const index::Family& family, std::string_view member,
                                        const wheel::Version& version) const;
  /// The local version where it is a label of the family; else empty.
  [[nodiscard]] std::string known_local(const index::Family& family,
                                        const wheel::Version& version) const;
  /// The label that the user gives a member, by whatever option or version; empty: none.
  [[nodiscard]] std::string given_label(const index::Family& family, std::string_view member,
                                        const std::vector<const Want*>& wants) const;

  /// Of an installed package: "2.8.0+cu128" of a member is a build of release 2.8.0.
  [[nodiscard]] wheel::Version release_of(const plan::InstalledPackage& package);
  /// Versions of the other members that go with `version` of `name`; empty: it is not the first
  /// member of a family.
  [[nodiscard]] std::vector<wheel::Requirement> goes_with(std::string_view name,
                                                          const wheel::Version& version);
  /// The GPU platform of an installed package (gpu_platform.h): where neither its label, its name
  /// nor its version says it, what it requires here.
  [[nodiscard]] std::string installed_platform(const plan::InstalledPackage& package) const;
  /// A GPU works here that some label of the family is for.
  [[nodiscard]] bool has_device_for(const index::Family& family) const;
  /// An installed package is a build for `vendor` (a namespace), by its label.
  [[nodiscard]] bool is_built_for(const plan::InstalledPackage& package, std::string_view vendor);
  /// What the local version of a package says that it was built for, where that counts: of members
  /// of torch's family it is a label, and one that names a backend alone speaks of torch where the
  /// package requires torch. Without a local version `label`, which a family's file gives the
  /// build, says the same.
  [[nodiscard]] std::optional<BuiltFor> built_for(
      std::string_view name, const wheel::Version& version,
      const std::vector<wheel::Requirement>& requirements, std::string_view label = {});
  /// Whether a wheel that was built for `built` can be loaded beside the build `label` of `version`
  /// of torch, as far as the family's file knows the label; empty: not known.
  [[nodiscard]] bool suits(const BuiltFor& built, const wheel::Version& version,
                           std::string_view label);

 private:
  const Target& target_;
  const std::vector<plan::InstalledPackage>& installed_;
  const Options& options_;
  Candidates& candidates_;
};

}  // namespace axle::resolver
