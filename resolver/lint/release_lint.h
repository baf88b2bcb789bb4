#pragma once
// What one release offers to the machines of a corpus.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "index/publish/index_pages.h"
#include "resolver/lint/finding.h"
#include "resolver/lint/machine_corpus.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/version.h"
#include "wheel/wheel_name.h"

namespace axle::resolver {

struct LintedWheel {
  const index::ListedFile* file;
  wheel::WheelName name;
};

struct LintedRelease {
  wheel::Version version;
  std::vector<LintedWheel> wheels;
  std::optional<wheel::VariantMetadata> variants;
};

/// The label that each machine gets: nullopt, none at all; empty, a plain wheel.
using Choices = std::vector<std::optional<std::string>>;
[[nodiscard]] Choices choose_for_all(const LintedRelease& release, MachineCorpus& corpus);

/// Variants that no machine can take, or none takes since another one is always better.
void lint_labels(const std::string& project, const LintedRelease& release, const Choices& choices,
                 MachineCorpus& corpus, std::vector<LintFinding>& found);

/// Machines without a wheel, of architectures that have some.
void lint_gaps(const std::string& project, const LintedRelease& release, const Choices& choices,
               MachineCorpus& corpus, std::vector<LintFinding>& found);

/// Machines that get less from `release` than from the one `before` it.
void lint_successor(const std::string& project, const LintedRelease& before,
                    const Choices& before_choices, const LintedRelease& release,
                    const Choices& choices, MachineCorpus& corpus, std::vector<LintFinding>& found);

}  // namespace axle::resolver
