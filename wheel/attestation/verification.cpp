#include "wheel/attestation/verification.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "foundation/documents/json_object.h"
#include "foundation/documents/json_tree.h"
#include "foundation/text/base64.h"
#include "foundation/text/quote.h"
#include "wheel/attestation/certificate_timestamp.h"
#include "wheel/attestation/log_proof.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::wheel {
namespace {

using documents::JsonObject;

/// PEP 740 leaves the predicates to the index. Known are SLSA's provenance, and that a file was
/// published, which each index names by a page of its own documentation: the path says it.
bool is_known_predicate(std::string_view type) {
  constexpr std::string_view scheme = "https://";
  if (type == "https://slsa.dev/provenance/v1") return true;
  if (!type.starts_with(scheme)) return false;
  const std::size_t path = type.find('/', scheme.size());
  return path != std::string_view::npos && path > scheme.size() &&
         type.substr(path) == "/attestations/publish/v1";
}

constexpr std::string_view payload_type = "application/vnd.in-toto+json";
constexpr std::string_view statement_type = "https://in-toto.io/Statement/v1";

/// What an envelope's signature is of: the pre-authentication encoding of DSSE
/// (https://github.com/secure-systems-lab/dsse/blob/master/protocol.md).
std::string authenticated(std::string_view statement) {
  return fmt::format("DSSEv1 {} {} {} {}", payload_type.size(), payload_type, statement.size(),
                     statement);
}

std::string pem_of(const Certificate& certificate) {
  constexpr std::size_t line = 64;
  const std::string digits = text::encode_base64(certificate.der());
  std::string pem = "-----BEGIN CERTIFICATE-----\n";
  for (std::size_t at = 0; at < digits.size(); at += line)
    pem.append(digits, at, line).append("\n");
  return pem + "-----END CERTIFICATE-----\n";
}

/// The same file by another spelling of name, version or tags.
bool is_same_file(const std::string& stated, const std::string& filename) {
  if (stated == filename) return true;
  const auto one = parse_wheel_name(stated);
  const auto other = parse_wheel_name(filename);
  if (!one || !other) return false;
  auto tags = one->tags;
  auto other_tags = other->tags;
  std::ranges::sort(tags);
  std::ranges::sort(other_tags);
  return normalize_name(one->distribution) == normalize_name(other->distribution) &&
         one->version == other->version && one->build == other->build &&
         one->label == other->label && tags == other_tags;
}

struct Statement {
  std::string predicate;
  std::string name;
  std::string sha256;
};

/// https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
Result<Statement> parse_statement(std::string_view text) {
  auto tree = documents::parse_json_tree(text, "its statement", {.bytes = max_provenance_bytes});
  if (!tree) return std::unexpected(tree.error());
  documents::JsonReading reading("its statement", "", {.unknown_keys = true});
  JsonObject root(*tree, reading);
  root.require("_type");
  const std::string type = root.text("_type");
  if (!reading.error() && type != statement_type)
    root.refuse("_type", fmt::format("{} is not {}", text::quote(type), statement_type));
  root.require("predicateType");
  Statement statement{.predicate = root.text("predicateType"), .name = {}, .sha256 = {}};
  root.require("subject");
  std::size_t subjects = 0;
  root.each("subject", [&](JsonObject& subject) {
    ++subjects;
    subject.require("name");
    statement.name = subject.text("name");
    subject.require("digest");
    subject.part("digest", [&](JsonObject& digest) {
      digest.require("sha256");
      statement.sha256 = digest.text("sha256");
    });
  });
  if (subjects != 1) root.refuse("subject", "it is not about exactly one file");
  if (reading.error()) return std::unexpected(*reading.error());
  return statement;
}

Result<Statement> check_statement(std::string_view text, const AttestedFile& file) {
  auto statement = parse_statement(text);
  if (!statement) return statement;
  if (!is_known_predicate(statement->predicate)) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} is a kind of attestation that is not known here",
                            text::quote(statement->predicate)));
  }
  if (!is_same_file(statement->name, file.filename)) {
    return fail(ErrorKind::mismatch,
                fmt::format("it is about another file, {}", text::quote(statement->name)));
  }
  const bool is_digest =
      statement->sha256.size() == 64 && std::ranges::all_of(statement->sha256, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
      });
  if (!is_digest || (!file.sha256.empty() && statement->sha256 != file.sha256)) {
    return fail(
        ErrorKind::mismatch,
        fmt::format("it is about a file with the sha256 {}{}", text::quote(statement->sha256),
                    file.sha256.empty() ? "" : ", not " + file.sha256));
  }
  return statement;
}

/// The entry of a log is about this envelope and this certificate, not about others (Rekor's type
/// `dsse`, version 0.0.1: hash of the payload, signature and verifier).
Result<void> check_entry_content(const Attestation& attestation, const Certificate& certificate) {
  const LogEntry& entry = attestation.entry;
  if (entry.kind != "dsse" || entry.version != "0.0.1") {
    return fail(ErrorKind::unsupported,
                fmt::format("its log's entry is of the kind {} {}, which is not known here",
                            text::quote(entry.kind), text::quote(entry.version)));
  }
  const auto tree = documents::parse_json_tree(entry.body, "the entry of its log",
                                               {.bytes = max_provenance_bytes});
  if (!tree) return std::unexpected(tree.error());
  documents::JsonReading reading("the entry of its log", "",
                                 {.longest_text = max_provenance_bytes, .unknown_keys = true});
  JsonObject root(*tree, reading);
  root.require("kind");
  const bool same_kind = root.text("kind") == entry.kind;
  root.require("apiVersion");
  const bool same_version = root.text("apiVersion") == entry.version;
  bool same_payload = false;
  std::size_t signatures = 0;
  bool same_signature = false;
  root.require("spec");
  root.part("spec", [&](JsonObject& spec) {
    spec.require("payloadHash");
    spec.part("payloadHash", [&](JsonObject& hash) {
      same_payload = hash.text("algorithm") == "sha256" &&
                     hash.text("value") == render_hex(sha256(attestation.statement));
    });
    spec.require("signatures");
    spec.each("signatures", [&](JsonObject& one) {
      ++signatures;
      same_signature = one.text("signature") == text::encode_base64(attestation.signature) &&
                       one.text("verifier") == text::encode_base64(pem_of(certificate));
    });
  });
  if (reading.error()) return std::unexpected(*reading.error());
  if (!same_kind || !same_version)
    return fail(ErrorKind::mismatch, "the entry of its log is of another kind than is stated");
  if (!same_payload)
    return fail(ErrorKind::mismatch, "the entry of its log is about another statement");
  if (signatures != 1 || !same_signature)
    return fail(ErrorKind::mismatch,
                "the entry of its log is about another signature or certificate");
  return {};
}

/// The certificate's chain at the time that the log gives, and its own timestamp.
Result<void> check_certificate(const Certificate& certificate, std::int64_t time,
                               const TrustedRoot& root) {
  if (auto good = certificate.may_sign(); !good) return good;
  Error last{ErrorKind::mismatch, "no certificate authority was trusted at the time of its entry"};
  for (const TrustedAuthority& authority : root.authorities) {
    if (!authority.valid.contains(time)) continue;
    const auto issuer = certificate.issuer_among(authority.chain, time);
    if (issuer) return check_certificate_timestamp(certificate, *issuer, root);
    last = issuer.error();
  }
  return std::unexpected(last);
}

}  // namespace

Result<VerifiedAttestation> verify_attestation(const Attestation& attestation,
                                               const Publisher& publisher, const AttestedFile& file,
                                               const TrustedRoot& root) {
  const auto certificate = Certificate::parse(attestation.certificate);
  if (!certificate) return std::unexpected(within("its certificate", certificate.error()));
  const auto log = check_log_entry(attestation.entry, root);
  if (!log) return std::unexpected(log.error());
  if (auto good = check_certificate(*certificate, attestation.entry.integrated_time, root); !good)
    return std::unexpected(good.error());
  if (auto good = check_identity(publisher, *certificate); !good)
    return std::unexpected(good.error());
  const auto key = certificate->key();
  if (!key || !key->has_signed(authenticated(attestation.statement), attestation.signature))
    return fail(ErrorKind::mismatch,
                "its signature is not one of its statement by its certificate");
  if (auto good = check_entry_content(attestation, *certificate); !good)
    return std::unexpected(good.error());
  auto statement = check_statement(attestation.statement, file);
  if (!statement) return std::unexpected(statement.error());
  return VerifiedAttestation{.publisher = publisher,
                             .predicate = std::move(statement->predicate),
                             .sha256 = std::move(statement->sha256),
                             .log = (*log)->name,
                             .log_index = attestation.entry.index,
                             .logged_at = attestation.entry.integrated_time};
}

}  // namespace axle::wheel
