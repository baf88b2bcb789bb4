// Journals of transactions, as they are and with a hash that fits. Accepted moves stay inside.
#include "installer/transaction/journal.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wheel/hash/sha256.h"

namespace {

void check(std::string_view text) {
  const auto journal = axle::installer::parse_journal(text, "fuzz");
  if (!journal) return;
  for (const axle::installer::Move& move : journal->moves) {
    if (move.path.starts_with('/')) std::abort();
    if (("/" + move.path + "/").find("/../") != std::string::npos) std::abort();
    if (move.path.starts_with(".axle/") || move.path == ".axle") std::abort();
  }
  const auto again =
      axle::installer::parse_journal(axle::installer::render_journal(*journal), "again");
  if (!again || again->moves != journal->moves || again->title != journal->title) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  const std::string hash = axle::wheel::render_hex(axle::wheel::sha256(text));
  text.append(hash).push_back('\0');
  check(text);
  return 0;
}
