#include "wheel/attestation/log_proof.h"

#include <bit>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "foundation/text/base64.h"
#include "foundation/text/quote.h"
#include "wheel/hash/sha256.h"

namespace axle::wheel {
namespace {

std::string digest_of(std::string_view bytes) {
  const Sha256Digest digest = sha256(bytes);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// RFC 6962 §2.1: leaves and nodes are hashed with different first bytes.
std::string leaf_hash(std::string_view body) {
  return digest_of(std::string(1, '\x00').append(body));
}
std::string node_hash(std::string_view left, std::string_view right) {
  return digest_of(std::string(1, '\x01').append(left).append(right));
}

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// A signed note (https://github.com/C2SP/C2SP/blob/main/signed-note.md): a text, a blank line,
/// and lines "— name base64", of four bytes that name the key and the signature.
struct SignedNote {
  std::string_view text;  ///< with its last line end
  std::string_view signatures;
};

std::optional<SignedNote> split_note(std::string_view note) {
  const std::size_t blank = note.find("\n\n");
  if (blank == std::string_view::npos || note.find("\n\n", blank + 1) != std::string_view::npos)
    return std::nullopt;
  const SignedNote split{note.substr(0, blank + 1), note.substr(blank + 2)};
  if (!split.signatures.ends_with('\n')) return std::nullopt;
  return split;
}

/// The signature by the key whose id begins like `id`; "": there is none.
std::string signature_by(std::string_view id, std::string_view lines) {
  constexpr std::string_view dash = "\u2014 ";
  constexpr std::size_t hint_bytes = 4;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 1);
    if (!line.starts_with(dash)) return {};
    line.remove_prefix(dash.size());
    const std::size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos) return {};
    const auto bytes = text::decode_base64(line.substr(space + 1));
    if (!bytes || bytes->size() <= hint_bytes) return {};
    if (bytes->starts_with(id.substr(0, hint_bytes))) return bytes->substr(hint_bytes);
  }
  return {};
}

/// Origin, size, root hash, and further lines (https://github.com/C2SP/C2SP tlog-checkpoint).
bool says(std::string_view text, const InclusionProof& proof) {
  const auto line = [&]() -> std::string_view {
    const std::size_t end = text.find('\n');
    const std::string_view found = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return found;
  };
  const std::string_view origin = line();
  const std::string_view size = line();
  const std::string_view hash = line();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), number);
  return !origin.empty() && error == std::errc() && end == size.data() + size.size() &&
         number == proof.tree_size && hash == text::encode_base64(proof.root_hash);
}

Result<void> check_checkpoint(const InclusionProof& proof, const TrustedLog& log) {
  const auto note = split_note(proof.checkpoint);
  if (!note) return fail(ErrorKind::mismatch, "the checkpoint of its log is not a signed note");
  const std::string signature = signature_by(log.id, note->signatures);
  if (signature.empty())
    return fail(ErrorKind::mismatch,
                fmt::format("the checkpoint is not signed by the log {}", text::quote(log.name)));
  if (!log.key.has_signed(note->text, signature)) {
    return fail(ErrorKind::mismatch, fmt::format("the signature of the log {} on its checkpoint is "
                                                 "not valid",
                                                 text::quote(log.name)));
  }
  if (says(note->text, proof)) return {};
  return fail(ErrorKind::mismatch,
              "the checkpoint of its log is one of another size or root than the proof is for");
}

/// What a log signs as its promise (Rekor): canonical JSON, that is with sorted keys.
Result<void> check_promise(const LogEntry& entry, const TrustedLog& log) {
  const std::string promise = fmt::format(
      R"({{"body":"{}","integratedTime":{},"logID":"{}","logIndex":{}}})",
      text::encode_base64(entry.body), entry.integrated_time, hexadecimal(log.id), entry.index);
  if (log.key.has_signed(promise, entry.signed_entry_timestamp)) return {};
  return fail(ErrorKind::mismatch,
              fmt::format("the signature of the log {} on its entry and its time is not valid",
                          text::quote(log.name)));
}

}  // namespace

Result<std::string> proved_root(std::string_view body, const InclusionProof& proof) {
  if (proof.index >= proof.tree_size)
    return fail(ErrorKind::mismatch, "the entry is beyond the end of its log");
  // Up to where the ways from the entry and from the last one meet, the neighbour may be on either
  // side; beyond, only on the left.
  const auto inner = static_cast<std::size_t>(std::bit_width(proof.index ^ (proof.tree_size - 1)));
  const auto border =
      inner < 64 ? static_cast<std::size_t>(std::popcount(proof.index >> inner)) : 0;
  if (proof.hashes.size() != inner + border) {
    return fail(ErrorKind::mismatch, fmt::format("the proof that its log has it has {} hashes "
                                                 "instead of {}",
                                                 proof.hashes.size(), inner + border));
  }
  std::string hash = leaf_hash(body);
  for (std::size_t i = 0; i < proof.hashes.size(); ++i) {
    const bool on_left = i >= inner || ((proof.index >> i) & 1) != 0;
    hash = on_left ? node_hash(proof.hashes[i], hash) : node_hash(hash, proof.hashes[i]);
  }
  return hash;
}

Result<const TrustedLog*> check_log_entry(const LogEntry& entry, const TrustedRoot& root) {
  const TrustedLog* const log = TrustedRoot::find(root.logs, entry.log_id);
  if (log == nullptr) {
    return fail(ErrorKind::mismatch, fmt::format("it is in a log that is not trusted ({})",
                                                 text::quote(text::encode_base64(entry.log_id))));
  }
  if (!log->valid.contains(entry.integrated_time)) {
    return fail(
        ErrorKind::mismatch,
        fmt::format("the log {} was not trusted at the time of its entry", text::quote(log->name)));
  }
  const auto proved = proved_root(entry.body, entry.proof);
  if (!proved) return std::unexpected(proved.error());
  if (*proved != entry.proof.root_hash)
    return fail(ErrorKind::mismatch,
                "the proof that its log has it does not lead to the log's root");
  if (auto good = check_checkpoint(entry.proof, *log); !good) return std::unexpected(good.error());
  if (auto good = check_promise(entry, *log); !good) return std::unexpected(good.error());
  return log;
}

}  // namespace axle::wheel
