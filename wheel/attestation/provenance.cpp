#include "wheel/attestation/provenance.h"

#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "foundation/documents/json_object.h"
#include "foundation/documents/json_tree.h"
#include "foundation/text/base64.h"
#include "foundation/text/quote.h"

namespace axle::wheel {
namespace {

using documents::JsonNode;
using documents::JsonObject;

constexpr std::uint64_t only_version = 1;

std::string read_bytes(JsonObject& object, std::string_view key) {
  object.require(key);
  const auto bytes = text::decode_base64(object.text(key));
  if (!bytes || bytes->empty()) object.refuse(key, "it is not base64");
  return bytes.value_or("");
}

/// 64-bit integers are strings in the JSON of protocol buffers; numbers are accepted there, too.
std::uint64_t read_number(JsonObject& object, std::string_view key) {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  object.require(key);
  const JsonNode* value = object.find(key);
  if (value == nullptr) return 0;
  std::uint64_t number = value->whole.value_or(largest + 1);
  if (value->kind == JsonNode::Kind::string) {
    const std::string& digits = value->text;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
      number = largest + 1;
  }
  if (number > largest) object.refuse(key, "it is not a whole number that is not negative");
  return number;
}

void require_part(JsonObject& object, std::string_view key,
                  const std::function<void(JsonObject&)>& read) {
  object.require(key);
  object.part(key, read);
}

InclusionProof read_proof(JsonObject& object) {
  constexpr std::size_t hash_bytes = 32;
  InclusionProof proof;
  proof.index = read_number(object, "logIndex");
  proof.tree_size = read_number(object, "treeSize");
  proof.root_hash = read_bytes(object, "rootHash");
  // The only entry of a log needs none, but says so.
  object.require("hashes");
  for (const std::string& hash : object.list(
           "hashes", {.item = documents::any_text, .may_be_empty = true, .may_repeat = true})) {
    auto bytes = text::decode_base64(hash);
    if (!bytes || bytes->size() != hash_bytes) {
      object.refuse("hashes", "one is not a SHA-256 in base64");
      break;
    }
    proof.hashes.push_back(std::move(*bytes));
  }
  if (proof.hashes.size() > 64) object.refuse("hashes", "more than 64 prove nothing");
  require_part(object, "checkpoint", [&](JsonObject& checkpoint) {
    checkpoint.require("envelope");
    proof.checkpoint = checkpoint.text("envelope");
  });
  return proof;
}

LogEntry read_entry(JsonObject& object) {
  LogEntry entry;
  entry.body = read_bytes(object, "canonicalizedBody");
  require_part(object, "kindVersion", [&](JsonObject& part) {
    entry.kind = part.text("kind");
    entry.version = part.text("version");
  });
  require_part(object, "logId",
               [&](JsonObject& part) { entry.log_id = read_bytes(part, "keyId"); });
  entry.index = read_number(object, "logIndex");
  entry.integrated_time = static_cast<std::int64_t>(read_number(object, "integratedTime"));
  require_part(object, "inclusionPromise", [&](JsonObject& part) {
    entry.signed_entry_timestamp = read_bytes(part, "signedEntryTimestamp");
  });
  require_part(object, "inclusionProof", [&](JsonObject& part) { entry.proof = read_proof(part); });
  return entry;
}

Attestation read_attestation(JsonObject& object) {
  Attestation attestation;
  object.require("version");
  const auto version = object.number("version", std::numeric_limits<std::uint32_t>::max());
  if (version && *version != only_version)
    object.refuse("version", fmt::format("{} is not a version that is known here (1)", *version));
  require_part(object, "verification_material", [&](JsonObject& material) {
    attestation.certificate = read_bytes(material, "certificate");
    material.require("transparency_entries");
    // One is sufficient; pypi-attestations looks at the first, too.
    bool is_first = true;
    material.each("transparency_entries", [&](JsonObject& entry) {
      if (std::exchange(is_first, false)) attestation.entry = read_entry(entry);
    });
    if (is_first) material.refuse("transparency_entries", "it is empty");
  });
  require_part(object, "envelope", [&](JsonObject& envelope) {
    attestation.statement = read_bytes(envelope, "statement");
    attestation.signature = read_bytes(envelope, "signature");
  });
  return attestation;
}

/// Keys that are not known are left out; a null is as good as nothing.
Publisher read_publisher(JsonObject& object) {
  object.require("kind");
  Publisher publisher{object.text("kind")};
  const PublisherKind* const kind = find_publisher_kind(publisher.kind);
  if (kind == nullptr) return publisher;
  for (const PublisherKey& key : kind->keys) {
    const JsonNode* value = object.find(key.name);
    const bool absent = value == nullptr || value->kind == JsonNode::Kind::null;
    if (absent && !key.required) continue;
    if (absent) object.refuse_object(fmt::format("the key {} is missing", text::quote(key.name)));
    publisher.claims[std::string(key.name)] = object.text(key.name);
  }
  return publisher;
}

AttestationBundle read_bundle(JsonObject& object) {
  AttestationBundle bundle;
  require_part(object, "publisher",
               [&](JsonObject& part) { bundle.publisher = read_publisher(part); });
  object.require("attestations");
  if (find_publisher_kind(bundle.publisher.kind) == nullptr) return bundle;
  object.each("attestations",
              [&](JsonObject& one) { bundle.attestations.push_back(read_attestation(one)); });
  return bundle;
}

}  // namespace

Result<Provenance> parse_provenance(std::string_view text, const std::string& where) {
  constexpr const char* hint = "report it to the index's operator";
  auto tree = documents::parse_json_tree(text, where, {.bytes = max_provenance_bytes});
  if (!tree) {
    if (tree.error().hint.empty()) tree.error().hint = hint;
    return std::unexpected(tree.error());
  }
  documents::JsonReading reading(
      where, hint, {.longest_text = max_provenance_bytes, .most_items = 64, .unknown_keys = true});
  JsonObject root(*tree, reading);
  root.require("version");
  const auto version = root.number("version", std::numeric_limits<std::uint32_t>::max());
  if (version && *version != only_version) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} has version {} of the format of provenance; this program reads 1",
                            where, *version),
                "use a newer release of this program");
  }
  Provenance provenance;
  root.require("attestation_bundles");
  root.each("attestation_bundles",
            [&](JsonObject& one) { provenance.bundles.push_back(read_bundle(one)); });
  if (reading.error()) return std::unexpected(*reading.error());
  return provenance;
}

}  // namespace axle::wheel
