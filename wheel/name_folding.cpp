#include "wheel/name_folding.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "foundation/text/ascii.h"

namespace axle::wheel {
namespace {

struct Folding {
  char32_t character;
  std::string_view folded;
};
// CaseFolding.txt (C and F) and the singleton decompositions of UnicodeData.txt that end in ASCII.
constexpr std::array<Folding, 13> foldings = {{{0xDF, "ss"},
                                               {0x17F, "s"},
                                               {0x37E, ";"},
                                               {0x1E9E, "ss"},
                                               {0x1FEF, "`"},
                                               {0x212A, "k"},
                                               {0xFB00, "ff"},
                                               {0xFB01, "fi"},
                                               {0xFB02, "fl"},
                                               {0xFB03, "ffi"},
                                               {0xFB04, "ffl"},
                                               {0xFB05, "st"},
                                               {0xFB06, "st"}}};

struct CodePointRange {
  char32_t first;
  char32_t last;
};
// Default_Ignorable_Code_Point of DerivedCoreProperties.txt.
constexpr std::array<CodePointRange, 17> ignored = {{{0xAD, 0xAD},
                                                     {0x34F, 0x34F},
                                                     {0x61C, 0x61C},
                                                     {0x115F, 0x1160},
                                                     {0x17B4, 0x17B5},
                                                     {0x180B, 0x180F},
                                                     {0x200B, 0x200F},
                                                     {0x202A, 0x202E},
                                                     {0x2060, 0x206F},
                                                     {0x3164, 0x3164},
                                                     {0xFE00, 0xFE0F},
                                                     {0xFEFF, 0xFEFF},
                                                     {0xFFA0, 0xFFA0},
                                                     {0xFFF0, 0xFFF8},
                                                     {0x1BCA0, 0x1BCA3},
                                                     {0x1D173, 0x1D17A},
                                                     {0xE0000, 0xE0FFF}}};

std::size_t sequence_length(unsigned char first) {
  return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/// Of well-formed UTF-8; what is not comes out as something that nothing folds.
char32_t decode(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  constexpr std::array<unsigned char, 5> lead_mask = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t character = byte(0) & lead_mask[sequence.size()];
  for (std::size_t i = 1; i < sequence.size(); ++i)
    character = (character << 6U) | (byte(i) & 0x3FU);
  return character;
}

}  // namespace

std::string fold_name(std::string_view name) {
  // Nearly every name is ASCII, and this is called for every file of a wheel.
  const auto beyond =
      std::ranges::find_if(name, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  std::string folded(name.begin(), beyond);
  for (char& c : folded) c = text::ascii_lower(c);
  name.remove_prefix(folded.size());
  while (!name.empty()) {
    const std::size_t length =
        std::min(sequence_length(static_cast<unsigned char>(name[0])), name.size());
    const std::string_view sequence = name.substr(0, length);
    name.remove_prefix(length);
    if (length == 1) {
      folded += text::ascii_lower(sequence[0]);
      continue;
    }
    const char32_t character = decode(sequence);
    const auto folding = std::ranges::find(foldings, character, &Folding::character);
    const bool unseen = std::ranges::any_of(ignored, [&](const CodePointRange& range) {
      return character >= range.first && character <= range.last;
    });
    if (!unseen) folded += folding == foldings.end() ? sequence : folding->folded;
  }
  return folded;
}

bool is_metadata_name(std::string_view name) {
  static constexpr std::array<std::string_view, 4> endings = {".dist-info", ".egg-info",
                                                              ".egg-link", ".egg"};
  const std::string folded = fold_name(name);
  return std::ranges::any_of(endings,
                             [&](std::string_view ending) { return folded.ends_with(ending); });
}

bool has_hidden_line_end(std::string_view text) {
  for (const std::string_view line_end :
       {"\v", "\f", "\x1c", "\x1d", "\x1e", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    if (text.contains(line_end)) return true;
  }
  for (std::size_t at = text.find('\r'); at != std::string_view::npos;
       at = text.find('\r', at + 1)) {
    if (!text.substr(at + 1).starts_with('\n')) return true;
  }
  return false;
}

}  // namespace axle::wheel
