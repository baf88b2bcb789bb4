#include "resolver/catalogue/withheld_files.h"

#include <fmt/format.h>

#include "index/http/url.h"

namespace axle::resolver {
namespace {

std::string some_files(std::size_t count, std::string_view name) {
  return count == 1 ? fmt::format("1 file of {} is excluded", name)
                    : fmt::format("{} files of {} are excluded", count, name);
}

}  // namespace

WithheldFiles withhold_files(index::ProjectPage& page, std::string_view name, bool dated,
                             const Options& options) {
  WithheldFiles withheld;
  const UploadCutoff* cutoff = options.cutoffs.find(name);
  if (cutoff != nullptr) withheld.cutoff = cutoff->text;
  std::erase_if(page.files, [&](const index::PublishedFile& file) {
    if (cutoff != nullptr && file.uploaded && *file.uploaded >= cutoff->time) {
      ++withheld.newer;
      return true;
    }
    if (cutoff != nullptr && !file.uploaded && dated) {
      ++withheld.undated;
      return true;
    }
    if (!file.exposed || index::is_trusted_host(file.url, options.trusted_hosts)) return false;
    if (withheld.exposed++ == 0)
      withheld.host = index::split_authority(index::split_url(file.url).authority).host;
    return true;
  });
  return withheld;
}

std::string explain_withheld(std::string_view name, const WithheldFiles& withheld) {
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : "; ") + std::move(part); };
  if (withheld.newer > 0) {
    add(fmt::format("{}: uploaded at {} or later", some_files(withheld.newer, name),
                    withheld.cutoff));
  }
  if (withheld.undated > 0) {
    add(
        fmt::format("{}: only uploads before {} count, and the index does not give the upload "
                    "time; use --exclude-newer-package {}=false to include it",
                    some_files(withheld.undated, name), withheld.cutoff, name));
  }
  if (withheld.exposed > 0) {
    add(
        fmt::format("{}: a plain http link without a hash on a page served by https; use "
                    "--trusted-host {} to include it",
                    some_files(withheld.exposed, name), withheld.host));
  }
  return text;
}

}  // namespace axle::resolver
