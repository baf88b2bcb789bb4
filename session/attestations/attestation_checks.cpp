#include "session/attestations/attestation_checks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "index/http/local_files.h"
#include "index/http/redaction.h"
#include "index/pages/page_request.h"
#include "session/input_file.h"
#include "wheel/attestation/provenance.h"

namespace axle::session {

namespace {

ListedFile listed(const plan::ResolvedPackage& package) {
  return {package.name, package.filename, package.url, package.provenance,
          std::string(package.hash.sha256())};
}

void expect_attested(const std::string& sha256, wheel::ExpectedHash& hash) {
  if (!hash.sha256().empty()) return;
  if (!hash.empty()) hash.beside.push_back({std::move(hash.algorithm), std::move(hash.digits)});
  hash.algorithm = "sha256";
  hash.digits = sha256;
  hash.source = wheel::HashSource::attestation;
}

/// Why nothing attests what was built.
std::string_view unattested(const plan::BuiltFrom& source) {
  switch (source.kind) {
    case plan::BuiltFrom::Kind::folder:
      return "it is built from a folder, which nobody attests";
    case plan::BuiltFrom::Kind::repository:
      return "it is built from a repository, which nobody attests";
    case plan::BuiltFrom::Kind::file:
      break;
  }
  return "nothing is known of what it was built from";
}

}  // namespace

Outcome<std::unique_ptr<AttestationChecks>> AttestationChecks::open(AttestationPolicy policy,
                                                                    index::Transport& transport,
                                                                    Report& report) {
  if (policy.asks_for_nothing()) return nullptr;
  const std::string where = fmt::format("{} ({})", policy.trusted_root, policy.trusted_root_origin);
  const auto text = read_input(policy.trusted_root);
  if (!text) {
    return misused(fmt::format("the trusted root cannot be read: {} ({})", text.error().message,
                               policy.trusted_root_origin),
                   "name the trusted_root.json of Sigstore");
  }
  auto root = wheel::parse_trusted_root(*text, where);
  if (!root) return misconfigured(std::move(root).error());
  return std::unique_ptr<AttestationChecks>(
      new AttestationChecks(std::move(policy), std::move(*root), transport, report));
}

bool AttestationChecks::concerns(std::string_view package) const {
  return policy_.mode != Attestations::off || policy_.publishers.contains(package);
}

Result<std::optional<std::string>> AttestationChecks::read_provenance(const ListedFile& file) {
  const std::string place = index::provenance_place(file.provenance, file.url);
  if (place.empty()) return std::nullopt;
  auto response = transport_.fetch(index::provenance_request(place));
  if (!response) return std::unexpected(std::move(response).error());
  if (response->status == 404 && file.provenance.empty()) return std::nullopt;
  if (response->status != 200) return std::unexpected(index::status_error(place, *response));
  return std::move(response->body);
}

plan::AttestationVerdict AttestationChecks::verdict_on(const ListedFile& file) {
  const auto text = read_provenance(file);
  if (!text) return {{}, text.error().message};
  if (!*text) return {{}, "its index names no provenance for it"};
  const std::string where = index::redact_url(index::provenance_place(file.provenance, file.url));
  const auto provenance = wheel::parse_provenance(**text, where);
  if (!provenance) return {{}, provenance.error().message};
  plan::AttestationVerdict verdict;
  wheel::AttestedFile attested{file.filename, file.sha256};
  for (const wheel::AttestationBundle& bundle : provenance->bundles) {
    for (const wheel::Attestation& attestation : bundle.attestations) {
      auto verified = wheel::verify_attestation(attestation, bundle.publisher, attested, root_);
      if (!verified) {
        return {{},
                fmt::format("{}: the attestation of {} is not valid: {}", where,
                            wheel::render_publisher(bundle.publisher), verified.error().message)};
      }
      attested.sha256 = verified->sha256;
      verdict.verified.push_back(std::move(*verified));
    }
  }
  if (verdict.verified.empty())
    return {{}, where + " has no attestation of a publisher that is known here"};
  return verdict;
}

plan::AttestationVerdict AttestationChecks::as_expected(const std::string& package,
                                                        plan::AttestationVerdict verdict) const {
  const auto expected = policy_.publishers.find(package);
  if (!verdict.why_not.empty() || expected == policy_.publishers.end()) return verdict;
  const bool as_expected = std::ranges::any_of(verdict.verified, [&](const auto& one) {
    return wheel::is_expected(one.publisher, expected->second.publisher);
  });
  if (as_expected) return verdict;
  return {
      {},
      fmt::format("it was published by {}, but {} expects {}",
                  wheel::render_publisher(verdict.verified.front().publisher),
                  expected->second.origin, wheel::render_publisher(expected->second.publisher))};
}

Error AttestationChecks::refusal(const std::string& package, const std::string& filename,
                                 const std::string& why) const {
  const auto expected = policy_.publishers.find(package);
  const bool pinned = expected != policy_.publishers.end();
  return {ErrorKind::mismatch, fmt::format("{} is not attested: {}", filename, why),
          fmt::format("{} requires it: request a version that is attested, "
                      "or use --attestations {}",
                      pinned ? expected->second.origin : policy_.origin,
                      pinned ? "off" : "warn or off")};
}

Result<void> AttestationChecks::settle(const std::string& package, const std::string& filename,
                                       const plan::AttestationVerdict& verdict) {
  if (verdict.why_not.empty()) return {};
  if (policy_.requires_for(package))
    return std::unexpected(refusal(package, filename, verdict.why_not));
  if (policy_.mode == Attestations::warn)
    report_.warn(fmt::format("{} is not attested: {}", filename, verdict.why_not));
  return {};
}

Result<void> AttestationChecks::allow_source(const std::string& package,
                                             const plan::BuiltFrom& source) const {
  if (package.empty() && !policy_.publishers.empty()) {
    return fail(
        ErrorKind::conflict,
        fmt::format("{} is not built: which package it is, is not known before, and {} says "
                    "who may publish some",
                    source.filename, policy_.publishers.begin()->second.origin),
        "write `NAME @ URL`");
  }
  if (source.kind == plan::BuiltFrom::Kind::file || !policy_.requires_for(package)) return {};
  return std::unexpected(refusal(package, source.filename, std::string(unattested(source))));
}

Result<plan::AttestationVerdict> AttestationChecks::check(const ListedFile& file) {
  plan::AttestationVerdict verdict = verdict_on(file);
  if (!file.sha256.empty()) built_from_[file.sha256] = verdict;
  verdict = as_expected(file.package, std::move(verdict));
  if (auto settled = settle(file.package, file.filename, verdict); !settled)
    return std::unexpected(std::move(settled).error());
  if (verdict.why_not.empty()) {
    const wheel::VerifiedAttestation& first = verdict.verified.front();
    report_.detail(fmt::format("{} is attested by {}, entry {} of {}", file.filename,
                               wheel::render_publisher(first.publisher), first.log_index,
                               first.log));
  }
  return verdict;
}

Result<plan::AttestationVerdict> AttestationChecks::check(const plan::ResolvedPackage& package) {
  if (!package.built_from) return check(listed(package));
  const plan::BuiltFrom& source = *package.built_from;
  const auto known = built_from_.find(source.sha256);
  const bool is_known = !source.sha256.empty() && known != built_from_.end();
  // What has not passed was reported when it was built.
  if (is_known && !known->second.why_not.empty() && !policy_.requires_for(package.name))
    return known->second;
  auto verdict = as_expected(
      package.name,
      is_known ? known->second : plan::AttestationVerdict{{}, std::string(unattested(source))});
  if (auto settled = settle(package.name, source.filename, verdict); !settled)
    return std::unexpected(std::move(settled).error());
  return verdict;
}

Result<void> AttestationChecks::check(plan::Resolution& resolution) {
  for (const plan::ResolvedPackage& package : resolution.packages) {
    if (package.already_installed || package.built_from || !concerns(package.name)) continue;
    if (const std::string place = index::provenance_place(package.provenance, package.url);
        !place.empty())
      transport_.prefetch(index::provenance_request(place));
  }
  std::optional<Error> first;
  for (plan::ResolvedPackage& package : resolution.packages) {
    if (package.already_installed || !concerns(package.name)) continue;
    auto verdict = check(package);
    if (!verdict) {
      if (first) report_.warn(verdict.error().message);
      if (!first) first = std::move(verdict).error();
      continue;
    }
    if (!verdict->verified.empty() && !package.built_from)
      expect_attested(verdict->verified.front().sha256, package.hash);
    package.attestation = std::move(*verdict);
  }
  if (first) return std::unexpected(std::move(*first));
  return {};
}

}  // namespace axle::session
