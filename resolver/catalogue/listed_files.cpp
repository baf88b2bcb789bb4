#include "resolver/catalogue/listed_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "index/http/redaction.h"
#include "index/http/transport.h"
#include "resolver/request/source_url.h"
#include "wheel/requirement.h"

namespace axle::resolver {
namespace {

/// "demo==1.0 (requirements.txt:3)"
std::string render_request(const Request& request) {
  wheel::Requirement shown = request.requirement;
  shown.url = index::redact_url(shown.url);
  const std::string text = shown.name.empty() ? shown.url : wheel::render_requirement(shown);
  return request.origin.empty() ? text : fmt::format("{} ({})", text, request.origin);
}

/// uv's rule: one clause, `== version` or `=== version`.
bool is_pinned(const wheel::Requirement& requirement) {
  if (!requirement.url.empty()) return true;
  const auto& clauses = requirement.specifiers.specifiers;
  return clauses.size() == 1 &&
         (clauses[0].comparison == wheel::Comparison::arbitrary ||
          (clauses[0].comparison == wheel::Comparison::equal && !clauses[0].wildcard));
}

bool has_hash(const Request& request) {
  if (!request.hashes.empty()) return true;
  wheel::ExpectedHash hash;
  const std::string_view url = request.requirement.url;
  const std::size_t fragment = url.find('#');
  return fragment != std::string_view::npos &&
         index::note_fragment_hashes(hash, url.substr(fragment + 1)) && !hash.as_listed().empty();
}

bool any_hash(const std::vector<Request>& requests) {
  return std::ranges::any_of(requests, [](const Request& one) { return !one.hashes.empty(); });
}

std::string lister(const Want& want) {
  return want.origin.empty() ? "the command line" : want.origin;
}

}  // namespace

HashRules hash_rules(const Requests& requests, const Options& options) {
  HashRules rules;
  rules.pinned = options.require_hashes.value_or(false);
  rules.count = rules.pinned || options.verify_hashes;
  const bool listed = any_hash(requests.requirements) || any_hash(requests.constraints) ||
                      any_hash(requests.overrides);
  rules.required = rules.count && options.require_hashes.value_or(listed);
  return rules;
}

Result<std::vector<wheel::ListedHash>> listed_hashes(std::string_view name,
                                                     const std::vector<const Want*>& wants) {
  std::vector<wheel::ListedHash> agreed;
  const Want* first = nullptr;
  for (const Want* want : wants) {
    if (want->hashes.empty()) continue;
    if (first == nullptr) {
      first = want;
      agreed = want->hashes;
      continue;
    }
    std::erase_if(agreed, [&](const wheel::ListedHash& hash) {
      return std::ranges::find(want->hashes, hash) == want->hashes.end();
    });
    if (agreed.empty()) {
      return fail(ErrorKind::conflict,
                  fmt::format("{} and {} list hashes for {}, but none that is in both",
                              lister(*first), lister(*want), name),
                  "list the same files in both, or remove the hashes of one");
    }
  }
  const bool any = !agreed.empty();
  std::erase_if(agreed, wheel::is_weak);
  if (any && agreed.empty()) {
    return fail(
        ErrorKind::conflict,
        fmt::format("{} lists only MD5 hashes for {}, which are not secure", lister(*first), name),
        "list sha256 hashes");
  }
  return agreed;
}

Result<void> check_listed(const std::vector<const Request*>& requirements,
                          const std::vector<const Request*>& constraints, const HashRules& rules) {
  const auto listed_for = [&](const Request* request) {
    const std::string name = wheel::normalize_name(request->requirement.name);
    return has_hash(*request) || std::ranges::any_of(constraints, [&](const Request* constraint) {
             return wheel::normalize_name(constraint->requirement.name) == name &&
                    has_hash(*constraint);
           });
  };
  std::vector<std::string> unpinned;
  std::vector<std::string> unhashable;
  std::vector<std::string> without;
  for (const Request* request : requirements) {
    if (rules.pinned && !is_pinned(request->requirement))
      unpinned.push_back(render_request(*request));
    const auto& url = request->requirement.url;
    const auto source = parse_source_url(url);
    if (rules.required && !url.empty() && source && !source->is_file())
      unhashable.push_back(render_request(*request));
    else if (rules.required && !listed_for(request))
      without.push_back(render_request(*request));
  }
  if (!unpinned.empty()) {
    return fail(ErrorKind::conflict,
                fmt::format("hashes are required, so every requirement must be pinned with ==; "
                            "these are not: {}",
                            fmt::join(unpinned, ", ")),
                "pin each with ==, as uv and pip-tools do in files with hashes");
  }
  if (!unhashable.empty()) {
    return fail(ErrorKind::conflict,
                fmt::format("hashes are required, and folders and repositories have none: {}",
                            fmt::join(unhashable, ", ")),
                "name an archive or a wheel, with its hash");
  }
  if (!without.empty()) {
    return fail(ErrorKind::conflict,
                fmt::format("{}, so every requirement must have one; these have none: {}",
                            rules.pinned ? "hashes are required" : "a requirement has a hash",
                            fmt::join(without, ", ")),
                "add --hash=sha256:… to each, as uv and pip-tools do with --generate-hashes");
  }
  return {};
}

Error hashes_missing(const std::vector<std::string>& packages,
                     const std::vector<std::string>& lines) {
  return {ErrorKind::conflict,
          fmt::format("every package must have a hash, dependencies too; these have none: {}",
                      fmt::join(packages, ", ")),
          fmt::format("if you trust what the index lists today, add: {}", fmt::join(lines, "; "))};
}

Error no_listed_file(std::string_view name, const Release& release,
                     const std::vector<const CandidateWheel*>& unlisted,
                     const std::vector<wheel::ListedHash>& listed) {
  constexpr std::size_t shown = 3;
  std::string found;
  for (std::size_t i = 0; i < std::min(unlisted.size(), shown); ++i) {
    const index::PublishedFile& file = *unlisted[i]->file;
    found += fmt::format("{}{} has {}", i == 0 ? "" : ", ", file.filename,
                         wheel::render_listed_hashes(file.hash.as_listed()));
  }
  if (unlisted.size() > shown) found += fmt::format(" and {} more", unlisted.size() - shown);
  return {
      ErrorKind::mismatch,
      fmt::format("no file of {} {} that fits this machine has a listed hash: expected {}; got: {}",
                  name, wheel::render_version(release.version), wheel::render_listed_hashes(listed),
                  found),
      "if the publisher added files since, list the hash of one; if the file should be unchanged, "
      "it may have been replaced: nothing was installed"};
}

}  // namespace axle::resolver
