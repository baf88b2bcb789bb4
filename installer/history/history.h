#pragma once
// What Axle changed in an environment, so that `variant undo` brings back what was there before.
//
//   <base>/.axle/history               the last changes, and the wheels of what they left installed
//   <base>/.axle/transaction/history   the same with a change that is being made
//
// The new one takes the place of the old one when all of the change is visible.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "installer/durability/unflushed_change.h"
#include "installer/environment/overwritten.h"
#include "plan/resolution.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::installer {

/// A package as it is, or was, installed.
struct RecordedPackage {
  WheelOrigin wheel;   ///< without sha256: installed by another program, the wheel is not known
  std::string record;  ///< sha256 of its RECORD, which tells it from every other installation
  std::optional<std::string> variant = {};
  std::string family = {};
  wheel::VariantProperties variant_properties = {};
  wheel::VariantProperties supported_properties = {};
  bool requested = false;
  bool direct = false;          ///< from a path or URL
  std::string provenance = {};  ///< of the wheel, without a login; empty: none is known
  std::optional<plan::BuiltFrom> built_from = {};
  OverwrittenFiles overwritten = {};  ///< its files that another package has
  friend bool operator==(const RecordedPackage&, const RecordedPackage&) = default;
};

struct RecordedChange {
  std::string title;                    ///< "install torch 2.8.0"
  std::vector<RecordedPackage> before;  ///< of the packages that were changed
  std::vector<RecordedPackage> after;
  friend bool operator==(const RecordedChange&, const RecordedChange&) = default;
};

struct History {
  std::vector<RecordedPackage> installed = {};  ///< what Axle installed and has not removed since
  std::vector<RecordedChange> done = {};        ///< the last one is undone first
  std::vector<RecordedChange> undone = {};      ///< the last one is made again first
  friend bool operator==(const History&, const History&) = default;
};

enum class HistoryStep : std::uint8_t {
  change,
  undo,  ///< of the last change
  redo,  ///< of the last one that was undone
};

/// So many changes are kept.
inline constexpr std::size_t longest_history = 20;

/// `change` was made as a `step`; one that leaves all as it was is none. The change of an undo is
/// the one that it makes; what is undone remains as it was recorded.
void add_step(History& history, HistoryStep step, RecordedChange change);

/// The package as Axle installed it, if it is the installation with that RECORD; else without its
/// wheel.
[[nodiscard]] RecordedPackage recorded_package(const History& history, std::string name,
                                               std::string version, const std::string& record);

/// What installs it again. Error: malformed (the name of the wheel).
[[nodiscard]] Result<plan::ResolvedPackage> package_again(const RecordedPackage& package);

[[nodiscard]] std::string render_history(const History& history);
/// Errors: malformed (cut off, modified), unsupported (a later format).
[[nodiscard]] Result<History> parse_history(std::string_view text, std::string_view where);

/// That of an environment; empty if there is none. Errors: malformed, unsupported, io.
[[nodiscard]] Result<History> read_history(const std::string& base);

/// What is written beside the other parts of a transaction takes its place. Repeatable. Error: io.
[[nodiscard]] Result<void> adopt_history(const std::string& base);

/// After a power failure: the draft only if it is whole; what it would have replaced is wrong then.
/// Error: io.
[[nodiscard]] Result<void> adopt_or_forget_history(const std::string& base);

}  // namespace axle::installer
