// The index of a family: one page with every label's files, or one index per label.
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "index/family/family_book.h"
#include "index/http/local_files.h"
#include "index/http/redaction.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

constexpr std::string_view placeholder = "{label}";

std::string folder_url(const Family& family, std::string_view label) {
  std::string url = family.url;
  for (std::size_t at = url.find(placeholder); at != std::string::npos;
       at = url.find(placeholder, at + label.size())) {
    url.replace(at, placeholder.size(), label);
  }
  return url;
}

/// A local mirror may have the folders of some labels only. A server reports itself what it has.
bool is_there(const std::string& url) {
  const auto path = local_path(url);
  std::error_code ignored;
  return is_http_url(url) || (path && std::filesystem::is_directory(*path, ignored));
}

class FamilySource final : public Source {
 public:
  FamilySource(const Family& family, Transport& transport, Report& report) : family_(family) {
    if (!family.url.contains(placeholder)) {
      folders_.push_back({{}, make_simple_source(family.url, transport, report)});
      return;
    }
    for (const FamilyLabel& label : family.labels) {
      const std::string url = folder_url(family, label.name);
      if (is_there(url))
        folders_.push_back({label.name, make_simple_source(url, transport, report)});
    }
    if (folders_.empty())
      folders_.push_back({{}, make_simple_source(family.url, transport, report)});
  }

  Result<ProjectPage> project(std::string_view name) override {
    ProjectPage all{std::string(name), description(), {}, true};
    std::set<std::string, std::less<>> seen;  // folders repeat the files that have no label
    for (const Folder& folder : folders_) {
      Result<ProjectPage> page = folder.source->project(name);
      if (!page) return std::unexpected(explain(std::move(page).error(), name));
      all.absent = all.absent && page->absent;
      if (!family_.has_member(name)) {
        // A local version of an unlabelled project is part of its version.
      } else if (family_.label_in_version) {
        label_files(family_, *page, /*known_only=*/false);
      } else {
        for (PublishedFile& file : page->files) file.label = folder.label;
      }
      if (folders_.size() == 1) {
        all.files = std::move(page->files);
        break;
      }
      for (PublishedFile& file : page->files) {
        if (!file.label.empty() || seen.insert(file.filename).second)
          all.files.push_back(std::move(file));
      }
    }
    // Other members may be missing; without the first one it is not the family's index.
    if (all.files.empty() && name == family_.anchor()) {
      return std::unexpected(
          explain({ErrorKind::not_found, fmt::format("{} has no {}", description(), name)}, name));
    }
    return all;
  }

  std::string description() const override { return redact_url(family_.url); }

 private:
  struct Folder {
    std::string label;  ///< empty: all
    std::unique_ptr<Source> source;
  };

  Error explain(Error error, std::string_view project) const {
    const std::string way_around = fmt::format(
        "specify a mirror with --family {}=URL, or use the default index's plain wheels with "
        "--no-variants={}",
        family_.name, project);
    error.message =
        fmt::format("the index of family {} cannot be used: {}", family_.name, error.message);
    error.hint = error.hint.empty() ? way_around : error.hint + "; or " + way_around;
    return error;
  }

  const Family& family_;
  std::vector<Folder> folders_;
};

}  // namespace

std::unique_ptr<Source> make_family_source(const Family& family, Transport& transport,
                                           Report& report) {
  return std::make_unique<FamilySource>(family, transport, report);
}

}  // namespace axle::index
