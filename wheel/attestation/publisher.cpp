#include "wheel/attestation/publisher.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"

namespace axle::wheel {
namespace {

constexpr std::array github_keys = {PublisherKey{"repository"}, PublisherKey{"workflow"},
                                    PublisherKey{"environment", false}};
constexpr std::array gitlab_keys = {PublisherKey{"repository"}, PublisherKey{"workflow_filepath"},
                                    PublisherKey{"environment", false}};
constexpr std::array google_keys = {PublisherKey{"email"}};
constexpr std::array circleci_keys = {
    PublisherKey{"project_id"}, PublisherKey{"pipeline_definition_id"},
    PublisherKey{"vcs_origin", false}, PublisherKey{"vcs_ref", false}};

constexpr std::array kinds = {
    PublisherKind{"GitHub", github_keys}, PublisherKind{"GitLab", gitlab_keys},
    PublisherKind{"Google", google_keys}, PublisherKind{"CircleCI", circleci_keys}};

const std::string& claim_of(const Publisher& publisher, std::string_view key) {
  static const std::string none;
  const auto found = publisher.claims.find(key);
  return found == publisher.claims.end() ? none : found->second;
}

Result<void> expect(const Certificate& certificate, Claim claim, std::string_view what,
                    std::initializer_list<std::string> expected) {
  const auto seen = certificate.claim(claim);
  if (seen && std::ranges::find(expected, *seen) != expected.end()) return {};
  return fail(ErrorKind::mismatch,
              fmt::format("its certificate says that {} is {}, and the publisher's is {}", what,
                          seen ? text::quote(*seen) : "unknown",
                          expected.size() == 0 ? "unknown" : text::quote(*expected.begin())));
}

/// A workflow is part of an address that ends in the commit or the branch or tag it ran for, which
/// only the certificate knows.
Result<void> check_workflow(const Certificate& certificate, const std::string& issuer,
                            const std::string& repository, const std::string& workflow) {
  if (auto good = expect(certificate, Claim::issuer, "who signed it in", {issuer}); !good)
    return good;
  if (auto good = expect(certificate, Claim::source_repository, "the repository", {repository});
      !good)
    return good;
  const auto digest = certificate.claim(Claim::source_digest);
  const auto ref = certificate.claim(Claim::source_ref);
  if (digest && ref) {
    return expect(certificate, Claim::build_config_uri, "the workflow",
                  {workflow + "@" + *ref, workflow + "@" + *digest});
  }
  if (digest || ref) {
    return expect(certificate, Claim::build_config_uri, "the workflow",
                  {workflow + "@" + (ref ? *ref : *digest)});
  }
  return fail(ErrorKind::mismatch, "its certificate names neither a commit nor a branch or tag");
}

Result<void> check_github(const Publisher& publisher, const Certificate& certificate) {
  const std::string repository = "https://github.com/" + claim_of(publisher, "repository");
  return check_workflow(certificate, "https://token.actions.githubusercontent.com", repository,
                        repository + "/.github/workflows/" + claim_of(publisher, "workflow"));
}

Result<void> check_gitlab(const Publisher& publisher, const Certificate& certificate) {
  const std::string repository = "https://gitlab.com/" + claim_of(publisher, "repository");
  return check_workflow(certificate, "https://gitlab.com", repository,
                        repository + "//" + claim_of(publisher, "workflow_filepath"));
}

Result<void> check_google(const Publisher& publisher, const Certificate& certificate) {
  if (auto good =
          expect(certificate, Claim::issuer, "who signed it in", {"https://accounts.google.com"});
      !good)
    return good;
  const std::vector<std::string> emails = certificate.emails();
  const std::string& email = claim_of(publisher, "email");
  if (std::ranges::find(emails, email) != emails.end()) return {};
  return fail(
      ErrorKind::mismatch,
      fmt::format("its certificate is for {}, and the publisher is {}",
                  emails.empty() ? "nobody" : text::quote(emails.front()), text::quote(email)));
}

Result<void> check_circleci(const Publisher& publisher, const Certificate& certificate) {
  if (auto good =
          expect(certificate, Claim::issuer, "who signed it in", {"https://oidc.circleci.com"});
      !good)
    return good;
  if (publisher.claims.contains("vcs_origin")) {
    if (auto good = expect(certificate, Claim::source_repository, "the repository",
                           {claim_of(publisher, "vcs_origin")});
        !good)
      return good;
  }
  if (publisher.claims.contains("vcs_ref")) {
    if (auto good = expect(certificate, Claim::source_ref, "the branch or tag",
                           {claim_of(publisher, "vcs_ref")});
        !good)
      return good;
  }
  return expect(certificate, Claim::build_signer_uri, "the pipeline",
                {fmt::format("https://circleci.com/api/v2/projects/{}/pipeline-definitions/{}",
                             claim_of(publisher, "project_id"),
                             claim_of(publisher, "pipeline_definition_id"))});
}

}  // namespace

std::span<const PublisherKind> publisher_kinds() { return kinds; }

const PublisherKind* find_publisher_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kinds, name, &PublisherKind::name);
  return found == kinds.end() ? nullptr : found;
}

std::string render_publisher(const Publisher& publisher) {
  std::string text = publisher.kind;
  for (const auto& [key, value] : publisher.claims) {
    std::string word = key;
    std::ranges::replace(word, '_', ' ');
    text += fmt::format(", {} {}", word, value);
  }
  return text;
}

bool is_expected(const Publisher& publisher, const Publisher& expected) {
  if (publisher.kind != expected.kind) return false;
  return std::ranges::all_of(expected.claims, [&](const auto& stated) {
    const std::string& seen = claim_of(publisher, stated.first);
    if (stated.first == "repository")
      return text::ascii_lower(seen) == text::ascii_lower(stated.second);
    return seen == stated.second;
  });
}

Result<void> check_identity(const Publisher& publisher, const Certificate& certificate) {
  if (publisher.kind == "GitHub") return check_github(publisher, certificate);
  if (publisher.kind == "GitLab") return check_gitlab(publisher, certificate);
  if (publisher.kind == "Google") return check_google(publisher, certificate);
  if (publisher.kind == "CircleCI") return check_circleci(publisher, certificate);
  return fail(ErrorKind::unsupported,
              fmt::format("{} is a kind of publisher that this version does "
                          "not know",
                          text::quote(publisher.kind)));
}

}  // namespace axle::wheel
