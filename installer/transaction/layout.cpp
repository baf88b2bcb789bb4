#include "installer/transaction/layout.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "installer/environment/evaluated_metadata.h"
#include "installer/environment/overwritten.h"
#include "wheel/name_folding.h"

namespace axle::installer {
namespace {

constexpr std::string_view dist_info_suffix = ".dist-info";

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('/')); }

std::string_view after_first_part(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
}

constexpr std::array<std::string_view, 10> replaced_names = {
    "RECORD",          "RECORD.jws",       "RECORD.p7s",      "INSTALLER",        "REQUESTED",
    "direct_url.json", "axle-family.json", original_metadata, marker_values_file, overwritten_file};

/// Files of the dist-info that the installer writes itself or that only signed the wheel's own
/// RECORD.
bool is_replaced(std::string_view name) {
  return std::ranges::find(replaced_names, name) != replaced_names.end();
}

class LayoutBuilder {
 public:
  LayoutBuilder(const Manifest& manifest, const Roots& roots)
      : manifest_(manifest), roots_(roots), resolver_(roots) {}

  Result<Layout> build() {
    if (!manifest_.dist_info.ends_with(dist_info_suffix) ||
        manifest_.dist_info.find('/') != std::string::npos) {
      return refuse(fmt::format("'{}' is not a dist-info folder", manifest_.dist_info));
    }
    stem_ = std::string_view(manifest_.dist_info)
                .substr(0, manifest_.dist_info.size() - dist_info_suffix.size());
    folded_data_ = wheel::fold_name(std::string(stem_) + ".data");
    layout_.site = manifest_.purelib ? roots_.purelib : roots_.platlib;
    layout_.dist_info = layout_.site + "/" + manifest_.dist_info;
    layout_.scripts_folder = roots_.scripts;
    auto scripts = wheel::parse_entry_points(
        manifest_.entry_points, fmt::format("{}/entry_points.txt", manifest_.dist_info));
    if (!scripts) return std::unexpected(within(manifest_.file_name, scripts.error()));
    layout_.scripts = std::move(*scripts);
    layout_.files.reserve(manifest_.files.size());
    for (std::size_t i = 0; i < manifest_.files.size(); ++i) {
      if (auto placed = place(i); !placed) return std::unexpected(placed.error());
    }
    if (auto distinct = check_distinct(); !distinct) return std::unexpected(distinct.error());
    return std::move(layout_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> refuse(std::string_view why) const {
    return fail(ErrorKind::malformed, fmt::format("{}: {}", manifest_.file_name, why),
                "do not trust this wheel: ask its publisher for another");
  }

  Result<void> place(std::size_t index) {
    const std::string_view path = manifest_.files[index].path;
    const std::string_view top = first_part(path);
    if (top == manifest_.dist_info && is_replaced(after_first_part(path))) return {};
    const bool data = top.ends_with(".data");
    if (top != plain_top_) {  // neighbours have the same
      if (!data && wheel::fold_name(top) == folded_data_)
        return refuse(fmt::format("'{}' is a data folder that only some tools recognise", top));
      plain_top_ = top;
    }
    if (!data || top.size() == path.size()) return place_at(index, layout_.site, path);
    if (top.substr(0, top.size() - 5) != stem_) {
      return refuse(fmt::format("'{}' is not the wheel's own data folder", top));
    }
    const std::string_view inside = after_first_part(path);
    const std::string_view scheme = first_part(inside);
    const std::string_view rest = after_first_part(inside);
    if (rest.empty())
      return refuse(fmt::format("'{}' does not belong to an installation scheme", path));
    if (scheme == "purelib") return place_at(index, roots_.purelib, rest);
    if (scheme == "platlib") return place_at(index, roots_.platlib, rest);
    if (scheme == "data") return place_at(index, roots_.data, rest);
    if (scheme == "scripts") return place_script(index, rest);
    if (scheme == "headers") {
      return place_at(index, fmt::format("{}/{}", roots_.include, stem_.substr(0, stem_.find('-'))),
                      rest);
    }
    return refuse(fmt::format("'{}' is not an installation scheme", scheme));
  }

  Result<void> place_script(std::size_t index, std::string_view name) {
    if (!wheel::is_script_name(name))
      return refuse(fmt::format("'{}' is not a valid name for a script", name));
    // A wrapper made from an entry point takes precedence over a script for old installers.
    if (std::ranges::find(layout_.scripts, name, &wheel::ScriptEntry::name) !=
        layout_.scripts.end())
      return {};
    return place_at(index, roots_.scripts, name, true);
  }

  /// A folder that was resolved, and in which no file of a plain name can be anything but itself.
  struct PlainFolder {
    std::string root;        ///< of the scheme
    std::string_view below;  ///< of `root`
    std::string target;      ///< what both lead to
  };

  static bool is_plain_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find('\0') == std::string_view::npos;
  }

  Result<void> place_at(std::size_t index, const std::string& root, std::string_view relative,
                        bool script = false) {
    const std::size_t slash = relative.rfind('/');
    const std::string_view below =
        slash == std::string_view::npos ? std::string_view() : relative.substr(0, slash);
    const std::string_view name = relative.substr(slash == std::string_view::npos ? 0 : slash + 1);
    const bool plain = is_plain_name(name);
    std::string target;
    // As most files: next to the one before.
    if (plain && plain_ && plain_->below == below && plain_->root == root) {
      target.reserve(plain_->target.size() + 1 + name.size());
      target.append(plain_->target).append("/").append(name);
    } else {
      auto checked = checked_target(root, relative);
      if (!checked) return std::unexpected(std::move(checked.error()));
      target = std::move(*checked);
      plain_.reset();
      std::string folder = target.substr(0, target.rfind('/'));
      if (plain && is_plain_folder(folder)) plain_ = {root, below, std::move(folder)};
    }
    layout_.files.push_back({std::move(target), index, script});
    return {};
  }

  /// No two files, scripts among them, may have one target.
  [[nodiscard]] Result<void> check_distinct() const {
    std::set<std::string> of_scripts;
    for (const wheel::ScriptEntry& script : layout_.scripts)
      of_scripts.insert(roots_.scripts + "/" + script.name);
    std::vector<std::string_view> targets;
    targets.reserve(layout_.files.size() + of_scripts.size());
    for (const PlacedFile& file : layout_.files) targets.emplace_back(file.target);
    targets.insert(targets.end(), of_scripts.begin(), of_scripts.end());
    // Most are in order, as the wheel has them.
    const auto unsorted = std::ranges::is_sorted_until(targets);
    std::ranges::sort(unsorted, targets.end());
    std::vector<std::string_view> sorted;
    sorted.reserve(targets.size());
    std::ranges::merge(targets.begin(), unsorted, unsorted, targets.end(),
                       std::back_inserter(sorted));
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice == sorted.end()) return {};
    return refuse(fmt::format("two of its files would be installed as {}", *twice));
  }

  /// Whether nothing that is refused elsewhere can lie in `folder` itself: it is neither metadata
  /// nor a folder of the environment, and has none of these below it.
  [[nodiscard]] bool is_plain_folder(const std::string& folder) const {
    if (!sites_are_one_ || !folder.starts_with(folder_of_site_) ||
        wheel::is_metadata_name(
            first_part(std::string_view(folder).substr(folder_of_site_.size()))) ||
        wheel::fold_name(folder) == wheel::fold_name(roots_.scripts))
      return false;
    return !roots_.is_fixed_folder(folder);
  }

  /// Where `relative` leads to, which is nothing that may not be replaced.
  Result<std::string> checked_target(const std::string& folder, std::string_view relative) {
    constexpr std::ptrdiff_t max_depth = 100;
    if (std::ranges::count(relative, '/') > max_depth) {
      return refuse(fmt::format("'{}' is nested too deeply", relative));
    }
    auto resolved = resolver_.resolve(fmt::format("{}/{}", folder, relative));
    if (!resolved) return std::unexpected(resolved.error());
    std::optional<std::string>& target = *resolved;
    if (!target) return refuse(fmt::format("'{}' leads outside the environment", relative));
    if (roots_.is_reserved(*target) || roots_.is_fixed_folder(*target)) {
      return refuse(fmt::format("'{}' would replace the environment's own {}", relative, *target));
    }
    if (poses_as_another(*target)) {
      return refuse(fmt::format("'{}' belongs to another package's metadata", relative));
    }
    return std::move(*target);
  }

  [[nodiscard]] bool poses_as_another(std::string_view target) const {
    // As most files are written: in the site itself, in a folder that is nobody's metadata.
    if (sites_are_one_ && target.starts_with(folder_of_site_) &&
        !wheel::is_metadata_name(first_part(target.substr(folder_of_site_.size()))))
      return false;
    const std::string folded = wheel::fold_name(target);
    for (const std::string& folded_site : folded_sites_) {
      if (!contains_path(folded_site, folded) || folded.size() == folded_site.size()) continue;
      const std::string_view relative = std::string_view(folded).substr(folded_site.size() + 1);
      if (!wheel::is_metadata_name(first_part(relative))) continue;
      if (!contains_path(layout_.dist_info, target)) return true;
      const std::string_view file = after_first_part(relative);
      return std::ranges::any_of(
          replaced_names, [&](std::string_view name) { return wheel::fold_name(name) == file; });
    }
    return false;
  }

  const Manifest& manifest_;
  const Roots& roots_;
  PathResolver resolver_;
  bool sites_are_one_ = roots_.purelib == roots_.platlib;
  std::string folder_of_site_ = roots_.purelib + "/";
  std::array<std::string, 2> folded_sites_ = {wheel::fold_name(roots_.purelib),
                                              wheel::fold_name(roots_.platlib)};
  std::string_view stem_;
  std::string folded_data_;     ///< the name of the wheel's data folder, folded
  std::string_view plain_top_;  ///< of the last file: no other spelling of that name
  Layout layout_;
  std::optional<PlainFolder> plain_;  ///< of the last file
};

}  // namespace

Result<Layout> lay_out(const Manifest& manifest, const Roots& roots) {
  return LayoutBuilder(manifest, roots).build();
}

}  // namespace axle::installer
