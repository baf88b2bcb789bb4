#include "installer/environment/direct_url.h"

#include <nlohmann/json.hpp>

#include "index/http/redaction.h"

namespace axle::installer {
namespace {

using nlohmann::ordered_json;

ordered_json archive_info(const std::string& sha256) {
  ordered_json archive = ordered_json::object();
  if (!sha256.empty()) {
    archive["hash"] = "sha256=" + sha256;
    archive["hashes"] = {{"sha256", sha256}};
  }
  return archive;
}

}  // namespace

ordered_json direct_url(const plan::ResolvedPackage& package, const std::string& sha256) {
  using Kind = plan::BuiltFrom::Kind;
  if (!package.built_from)
    return {{"url", index::redact_url(package.recorded_url())},
            {"archive_info", archive_info(sha256)}};
  const plan::BuiltFrom& from = *package.built_from;
  ordered_json document = {{"url", from.url}};
  switch (from.kind) {
    case Kind::file:
      document["url"] = index::redact_url(from.url);
      document["archive_info"] = archive_info(from.sha256);
      break;
    case Kind::folder:
      document["dir_info"] = ordered_json::object();
      if (from.editable) document["dir_info"]["editable"] = true;
      break;
    case Kind::repository:
      document["vcs_info"] = {{"vcs", "git"}};
      if (!from.revision.empty()) document["vcs_info"]["requested_revision"] = from.revision;
      document["vcs_info"]["commit_id"] = from.commit;
      break;
  }
  if (!from.subdirectory.empty()) document["subdirectory"] = from.subdirectory;
  return document;
}

}  // namespace axle::installer
