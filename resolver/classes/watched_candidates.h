#pragma once
// Candidates that note what a solve looks at which depends on the machine.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resolver/catalogue/candidates.h"
#include "resolver/classes/python_bounds.h"
#include "resolver/request/options.h"

namespace axle::resolver {

/// What a derivation used. Two machines that do not differ in it get the same answer, because the
/// solver asks nothing else of a machine.
struct UsedInputs {
  std::set<wheel::Property> properties;  ///< whether the machine supports them, and in which order
  /// Values of one feature, and whether each GPU, or the machine, supports one of them. Of a build
  /// that does not fit this is enough to know, whatever else it needs.
  std::set<std::vector<wheel::Property>> runs;
  std::set<std::string, std::less<>> tags;  ///< of wheels: "cp312-cp312-manylinux_2_28_x86_64"
  /// Names of markers that tell of a machine: "platform_machine", "platform_release".
  std::set<std::string, std::less<>> markers;
  /// Namespaces of which a plugin was asked.
  std::set<std::string, std::less<>> foreign;
  /// Packages of which somebody pins a local version: a build that may be none for the machine.
  std::set<std::string, std::less<>> pinned_builds;
  bool variant_markers = false;  ///< some requirement asks which properties are supported
  friend bool operator==(const UsedInputs&, const UsedInputs&) = default;
};

/// What was looked at that has to be put beside the lists of the machine.
struct LookedAt {
  struct Document {
    const wheel::VariantMetadata* metadata = nullptr;
    std::vector<std::string> labels;  ///< of the variants that decided
    /// Which of two variants ranks first is the same on every machine that both fit.
    bool is_ordered = false;
  };
  std::vector<Document> documents;
  /// Families of which it counted whether there is a GPU that they have builds for.
  std::set<const index::Family*> families;
};

class WatchedCandidates final : public Candidates {
 public:
  /// All must outlive it.
  WatchedCandidates(Candidates& inner, const Options& options, const wheel::Version& python)
      : inner_(inner), options_(options), python_(python) {}

  /// The requirements of the user.
  void note_requirement(const wheel::Requirement& requirement);
  /// `solved`: with a solution; else every build of a release that was looked at is a reason why
  /// there is none.
  [[nodiscard]] LookedAt looked_at(bool solved) const;
  /// All but what `looked_at` says of variants.
  [[nodiscard]] UsedInputs take_used();
  /// Which other patch releases of Python may have other answers.
  [[nodiscard]] PythonBounds python_bounds() const;

  [[nodiscard]] Result<std::vector<Release*>> releases(std::string_view name) override;
  [[nodiscard]] Result<std::vector<Release*>> matching(std::string_view name,
                                                       const VersionFilter& filter) override;
  [[nodiscard]] Result<Release*> direct(std::string_view name, const NamedPlaces& places) override;
  [[nodiscard]] Result<std::vector<KnownVersion>> versions(std::string_view name) override {
    return inner_.versions(name);
  }
  [[nodiscard]] Result<const ReleaseMetadata*> variants(
      std::string_view name, const Release& release,
      const std::vector<const CandidateWheel*>& wheels) override;
  [[nodiscard]] Result<WheelMetadata> metadata(std::string_view name, const Release& release,
                                               const CandidateWheel& wheel) override;
  void expect_releases(const std::vector<std::string>& names) override {
    inner_.expect_releases(names);
  }
  [[nodiscard]] std::vector<Release*> releases_at_hand(std::string_view name) override;
  void expect_variants(std::string_view name, const Release& release) override {
    inner_.expect_variants(name, release);
  }
  void expect_metadata(std::string_view name, const Release& release,
                       const CandidateWheel& wheel) override {
    inner_.expect_metadata(name, release, wheel);
  }
  [[nodiscard]] WheelMetadata known_metadata(std::string_view name, const Release& release,
                                             const CandidateWheel& wheel) override {
    return inner_.known_metadata(name, release, wheel);
  }
  void note_decision(const Release& release, std::string_view label) override {
    decisions_[&release].emplace(label);
  }
  [[nodiscard]] std::optional<std::string> first_sha256(const CandidateWheel& wheel) override {
    return inner_.first_sha256(wheel);
  }
  [[nodiscard]] Result<const index::Family*> family_of(std::string_view name) override;
  [[nodiscard]] std::string assigned_url(std::string_view name) const override {
    return inner_.assigned_url(name);
  }
  [[nodiscard]] Whereabouts whereabouts(std::string_view name) override {
    return inner_.whereabouts(name);
  }
  [[nodiscard]] std::set<std::string> names_at_hand() override { return inner_.names_at_hand(); }

 private:
  /// What a release has, and the labels of the wheels that were asked about.
  struct Described {
    const ReleaseMetadata* metadata = nullptr;
    std::set<std::string, std::less<>> labels;
  };

  void note_name(std::string_view name);
  /// Which devices have code of their own matters where a wheel has extras for some.
  void note_device_extras(std::string_view name, const std::vector<std::string>& extras);
  void note_releases(const std::vector<Release*>& releases);

  Candidates& inner_;
  const Options& options_;
  const wheel::Version& python_;
  PythonBounds bounds_;  ///< of markers and of the metadata of wheels
  UsedInputs used_;
  std::set<std::string, std::less<>> names_;
  std::set<Release*> releases_;
  std::map<const Release*, Described> described_;
  std::map<const Release*, std::set<std::string, std::less<>>> decisions_;  ///< as note_decision
  std::set<const index::Family*> families_;
  std::set<const wheel::CoreMetadata*> metadata_;
};

}  // namespace axle::resolver
