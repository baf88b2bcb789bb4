#pragma once
// A little world to resolve in: an index in memory, a CPython 3.11 on x86-64 glibc 2.36, what is
// installed.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/report.h"
#include "resolver/solver/solver.h"
#include "tests/support/memory_index.h"

namespace axle::testing {

[[nodiscard]] wheel::Requirement requirement(std::string_view text);
[[nodiscard]] wheel::Version version(std::string_view text);

/// x86_64 :: level v1, v2, v3 and nothing else, as static lists: no machine is needed.
[[nodiscard]] wheel::VariantMetadata level_variants(const std::vector<std::string>& labels);

/// A CPython 3.11 on x86-64 glibc 2.36.
[[nodiscard]] resolver::Target cpython_311(const detect::Machine& machine);
/// Another CPython 3 there.
[[nodiscard]] resolver::Target cpython(const detect::Machine& machine, std::uint32_t minor,
                                       const std::string& full_version);

struct World {
  World();

  CollectedReport report;
  MemoryIndex index;
  detect::Machine machine;
  resolver::Target target;
  std::vector<plan::InstalledPackage> installed;
  resolver::Options options;
  index::FamilyBook families{index, report};  ///< empty: silent
  bool use_families = false;
  resolver::Sources sources;  ///< `index` alone, unless a test says more
  std::vector<std::string> constraints;
  bool counted = false;  ///< a test counts what is asked: nothing is resolved a second time

  void install(const std::string& name, const std::string& version,
               const std::vector<std::string>& dependencies = {},
               std::optional<std::string> variant = std::nullopt);
  /// A wheel a label of `metadata`, and its variants file.
  void publish_variants(const std::string& name, const std::string& version,
                        const wheel::VariantMetadata& metadata);

  [[nodiscard]] std::expected<plan::Resolution, resolver::Unresolved> try_resolve(
      const std::vector<std::string>& requirements);
  /// "name version" or "name version[label]", kept ones with "=" in front; fails the test on an
  /// error.
  [[nodiscard]] std::vector<std::string> resolve(const std::vector<std::string>& requirements);
  /// The error; fails the test when there is none.
  [[nodiscard]] resolver::Unresolved error(const std::vector<std::string>& requirements);
  [[nodiscard]] bool remarked(std::string_view part) const;
  /// The package of the last resolution.
  [[nodiscard]] const plan::ResolvedPackage& package(std::string_view name) const;

  plan::Resolution last;

 private:
  /// Options::whole_decisions decides about nothing but what decisions list.
  void check_without_whole_decisions(
      const resolver::Requests& requests,
      const std::expected<plan::Resolution, resolver::Unresolved>& resolution) const;
};

}  // namespace axle::testing
