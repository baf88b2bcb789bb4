#include "installer/transaction/meddling.h"

#include <filesystem>
#include <map>
#include <system_error>

#include "foundation/text/ascii.h"
#include "installer/file_access.h"
#include "wheel/requirement.h"

namespace axle::installer {
namespace {

/// The moves at one path.
struct Moves {
  const Move* out = nullptr;
  const Move* in = nullptr;
};

bool is_metadata(std::string_view path) {
  const std::string lower = text::ascii_lower(path);
  return lower.ends_with(".dist-info") || lower.ends_with(".egg-info");
}

/// Where the thing of a move is.
struct HiddenState {
  bool hidden = false;
  bool on_its_way = false;
};

Result<HiddenState> locate(const TransactionFolder& folder, const Move* move) {
  if (move == nullptr) return HiddenState{};
  const auto hidden = exists(folder.hidden(*move));
  if (!hidden) return std::unexpected(hidden.error());
  const auto on_its_way = exists(partial(folder.hidden(*move)));
  if (!on_its_way) return std::unexpected(on_its_way.error());
  return HiddenState{*hidden, *on_its_way};
}

/// Whether metadata is as the transaction left it.
Result<bool> is_as_left(const TransactionFolder& folder, const Moves& moves) {
  const auto out = locate(folder, moves.out);
  if (!out) return std::unexpected(out.error());
  const auto in = locate(folder, moves.in);
  if (!in) return std::unexpected(in.error());
  const auto present = list_leaves(folder.visible(moves.out != nullptr ? *moves.out : *moves.in));
  if (!present) return std::unexpected(present.error());
  if (in->on_its_way) return has_only(*present, moves.in->leaves);
  if (moves.in != nullptr && !in->hidden) return *present == moves.in->leaves;
  if (out->on_its_way) return has_only(*present, moves.out->leaves);
  if (moves.out != nullptr && !out->hidden) return *present == moves.out->leaves;
  return present->empty();
}

/// Whether a file to be removed was changed, or others are next to it.
Result<bool> is_changed(const TransactionFolder& folder, const Moves& moves) {
  if (moves.out == nullptr) return false;
  const auto out = locate(folder, moves.out);
  if (!out) return std::unexpected(out.error());
  const auto in = locate(folder, moves.in);
  if (!in) return std::unexpected(in.error());
  const bool arrived = moves.in != nullptr && !in->hidden && !in->on_its_way;
  if (out->hidden || arrived) return false;
  const auto present = list_leaves(folder.visible(*moves.out));
  if (!present) return std::unexpected(present.error());
  return !has_only(*present, moves.out->leaves);
}

/// "Demo-1.0.dist-info" -> "demo".
std::string package_of(std::string_view metadata_folder) {
  const std::string_view stem = metadata_folder.substr(0, metadata_folder.rfind('.'));
  return wheel::normalize_name(stem.substr(0, stem.find('-')));
}

bool names(std::string_view packages, std::string_view name) {
  return (" " + std::string(packages) + " ").contains(" " + std::string(name) + " ");
}

class Inspection {
 public:
  Inspection(const TransactionFolder& folder, const Journal& journal)
      : folder_(folder), journal_(journal) {
    for (const Move& move : journal.moves) {
      Moves& both = places_[move.path];
      (move.direction == Direction::out ? both.out : both.in) = &move;
    }
  }

  Result<Meddling> inspect() {
    for (const auto& [path, moves] : places_) {
      if (!is_metadata(path)) continue;
      const auto as_left = is_as_left(folder_, moves);
      if (!as_left) return std::unexpected(as_left.error());
      if (!*as_left) take_over(moves);
      sites_.emplace(path.substr(0, path.find_last_of('/') + 1));
    }
    for (const std::string& site : sites_) {
      if (auto searched = search(site); !searched) return std::unexpected(searched.error());
    }
    for (const auto& [path, moves] : places_) {
      const Move& move = moves.out != nullptr ? *moves.out : *moves.in;
      if (meddling_.taken_over.contains(move.packages)) continue;
      const auto changed = is_changed(folder_, moves);
      if (!changed) return std::unexpected(changed.error());
      if (*changed) meddling_.files_changed = true;
    }
    return std::move(meddling_);
  }

 private:
  void take_over(const Moves& moves) {
    meddling_.taken_over.insert((moves.out != nullptr ? moves.out : moves.in)->packages);
  }

  /// Other versions of the packages, added since. `site` ends with a slash. Those without a RECORD
  /// were also skipped when the transaction began.
  Result<void> search(const std::string& site) {
    std::error_code error;
    const std::string path = folder_.base + "/" + site;
    for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (!is_metadata(name) || places_.contains(site + name)) continue;
      const auto record = exists(entry->path().string() + "/RECORD");
      if (!record) return std::unexpected(record.error());
      if (!*record) continue;
      for (const Move& move : journal_.moves) {
        if (names(move.packages, package_of(name))) meddling_.taken_over.insert(move.packages);
      }
    }
    if (error && !says_absent(error.value()))
      return std::unexpected(system_error("read", path, error.value()));
    return {};
  }

  const TransactionFolder& folder_;
  const Journal& journal_;
  std::map<std::string_view, Moves> places_;
  std::set<std::string> sites_;
  Meddling meddling_;
};

}  // namespace

Result<Meddling> find_meddling(const TransactionFolder& folder, const Journal& journal) {
  return Inspection(folder, journal).inspect();
}

}  // namespace axle::installer
