// Journals of transactions, as they are and with a hash that fits. Accepted moves stay inside.
#include "installer/transaction/journal.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/fuzz/installer/sealed_text.h"

namespace {

void check(std::string_view text) {
  const auto journal = axle::installer::parse_journal(text, "fuzz");
  if (!journal) return;
  for (const axle::installer::Move& move : journal->moves) {
    axle::fuzz::require_inside(move.path);
  }
  const auto again =
      axle::installer::parse_journal(axle::installer::render_journal(*journal), "again");
  if (!again || again->moves != journal->moves || again->title != journal->title) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  axle::fuzz::check_sealed(data, size, check);
  return 0;
}
