#include "binaries/x86_instructions.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace axle::binaries {
namespace {

using detect::Capability;

// What follows an opcode.
constexpr std::uint8_t plain = 0;
constexpr std::uint8_t modrm = 1;
constexpr std::uint8_t byte = 2;    ///< an immediate of 8 bits
constexpr std::uint8_t number = 4;  ///< of 32 bits, or 16 with the prefix 66
constexpr std::uint8_t jump = 8;    ///< of 32 bits
constexpr std::uint8_t other = 16;  ///< decided where it is read
constexpr std::uint8_t bad = 32;

using Shapes = std::array<std::uint8_t, 256>;

void set(Shapes& shapes, unsigned first, unsigned last, std::uint8_t shape) {
  std::fill(shapes.begin() + first, shapes.begin() + last + 1, shape);
}

/// The opcodes of one byte (SDM vol. 2, table A-2), as in 64-bit code.
Shapes one_byte_shapes() {
  Shapes shapes{};
  for (unsigned row = 0; row < 0x40; row += 8) {
    set(shapes, row, row + 3, modrm);
    shapes[row + 4] = byte;
    shapes[row + 5] = number;
    set(shapes, row + 6, row + 7, bad);
  }
  for (const unsigned one : {0x60U, 0x61U, 0x82U, 0x9AU, 0xCEU, 0xD4U, 0xD5U, 0xD6U, 0xEAU})
    shapes[one] = bad;
  for (const unsigned one : {0x63U, 0xD0U, 0xD1U, 0xD2U, 0xD3U, 0xFEU, 0xFFU}) shapes[one] = modrm;
  set(shapes, 0x84, 0x8F, modrm);
  set(shapes, 0xD8, 0xDF, modrm);
  for (const unsigned one : {0x6BU, 0x80U, 0x83U, 0xC0U, 0xC1U, 0xC6U}) shapes[one] = modrm | byte;
  for (const unsigned one : {0x69U, 0x81U, 0xC7U}) shapes[one] = modrm | number;
  for (const unsigned one : {0x68U, 0xA9U}) shapes[one] = number;
  for (const unsigned one : {0x6AU, 0xA8U, 0xCDU, 0xEBU}) shapes[one] = byte;
  set(shapes, 0x70, 0x7F, byte);
  set(shapes, 0xB0, 0xB7, byte);
  set(shapes, 0xE0, 0xE7, byte);
  set(shapes, 0xA0, 0xA3, other);
  set(shapes, 0xB8, 0xBF, other);
  for (const unsigned one : {0xC2U, 0xC8U, 0xCAU, 0xF6U, 0xF7U}) shapes[one] = other;
  set(shapes, 0xE8, 0xE9, jump);
  return shapes;
}

/// Those behind 0F (table A-3).
Shapes two_byte_shapes() {
  Shapes shapes{};
  shapes.fill(modrm);
  for (const unsigned one : {0x04U, 0x0AU, 0x0CU, 0x24U, 0x25U, 0x26U, 0x27U, 0x36U, 0x39U, 0x3BU,
                             0x7AU, 0x7BU, 0xA6U, 0xA7U})
    shapes[one] = bad;
  set(shapes, 0x3C, 0x3F, bad);
  for (const unsigned one : {0x05U, 0x06U, 0x07U, 0x08U, 0x09U, 0x0BU, 0x0EU, 0x37U, 0x77U})
    shapes[one] = plain;
  set(shapes, 0x30, 0x35, plain);
  set(shapes, 0xA0, 0xA2, plain);
  set(shapes, 0xA8, 0xAA, plain);
  set(shapes, 0xC8, 0xCF, plain);
  set(shapes, 0x80, 0x8F, jump);
  set(shapes, 0x70, 0x73, modrm | byte);
  set(shapes, 0xC4, 0xC6, modrm | byte);
  for (const unsigned one : {0x0FU, 0xA4U, 0xACU, 0xBAU, 0xC2U}) shapes[one] = modrm | byte;
  set(shapes, 0x20, 0x23, other);
  shapes[0x78] = other;
  return shapes;
}

enum Form : std::uint8_t { legacy, vex, evex };
constexpr std::size_t forms = 3;
constexpr std::size_t maps = 8;
// Mandatory prefixes, in the order of VEX's field `pp`.
constexpr int np = 0;
constexpr int p66 = 1;
constexpr int pF3 = 2;
constexpr int pF2 = 3;
constexpr int any_prefix = -1;

constexpr std::uint16_t baseline = detect::capability_count;
constexpr std::uint16_t absent = 0xFFFF;

constexpr std::size_t place_of(std::size_t form, std::size_t map, std::size_t prefix,
                               std::size_t wide, std::size_t length, std::size_t opcode) {
  return ((((form * maps + map) * 4 + prefix) * 2 + wide) * 2 + length) * 256 + opcode;
}

struct ExtensionRow {
  Form form;
  unsigned map;
  int prefix;  ///< -1: any
  int wide;    ///< W; -1: any
  int length;  ///< of vectors; -1: any
  unsigned first;
  unsigned last;
  Capability capability;
};

constexpr ExtensionRow extension_rows[] = {
#define AXLE_X86(form, map, prefix, w, length, first, last, capability) \
  {form, map, prefix, w, length, first, last, Capability::capability},
#include "binaries/x86_extensions.inc"
#undef AXLE_X86
};

using Extensions = std::vector<std::uint16_t>;

Extensions read_extensions() {
  Extensions all(forms * maps * 4 * 2 * 2 * 256, absent);
  std::fill_n(all.begin(), place_of(vex, 0, 0, 0, 0, 0), baseline);
  for (const ExtensionRow& row : extension_rows) {
    for (int prefix = 0; prefix < 4; ++prefix) {
      if (row.prefix != any_prefix && row.prefix != prefix) continue;
      for (int wide = 0; wide < 2; ++wide) {
        for (int length = 0; length < 2; ++length) {
          if ((row.wide >= 0 && row.wide != wide) || (row.length >= 0 && row.length != length))
            continue;
          for (unsigned opcode = row.first; opcode <= row.last; ++opcode)
            all[place_of(row.form, row.map, static_cast<std::size_t>(prefix),
                         static_cast<std::size_t>(wide), static_cast<std::size_t>(length),
                         opcode)] = static_cast<std::uint16_t>(row.capability);
        }
      }
    }
  }
  return all;
}

struct X86Tables {
  Shapes one_byte = one_byte_shapes();
  Shapes two_bytes = two_byte_shapes();
  Extensions extensions = read_extensions();
};

const X86Tables& tables() {
  static const X86Tables all;
  return all;
}

/// Reads one instruction. Behind its end every byte is 0, and makes it invalid in the end.
class Reading {
 public:
  explicit Reading(std::string_view code) : tables_(tables()), code_(code) {}

  X86Instruction run() {
    read_prefixes();
    const unsigned opcode = next();
    if (opcode == 0x0F) {
      read_two_bytes();
    } else if (opcode == 0xC5 || opcode == 0xC4) {
      read_vex(opcode == 0xC4);
    } else if (opcode == 0x62) {
      read_evex();
    } else if (opcode == 0x8F && (peek() & 0x1F) >= 8) {
      read_xop();
    } else {
      read_one_byte(opcode);
    }
    if (!valid_ || at_ > std::min<std::size_t>(code_.size(), longest_x86_instruction))
      return {1, false, false, baseline};
    return {static_cast<unsigned>(at_), true, asks_cpu_, capability_};
  }

 private:
  [[nodiscard]] unsigned peek() const {
    return at_ < code_.size() ? static_cast<unsigned char>(code_[at_]) : 0;
  }
  unsigned next() {
    const unsigned value = peek();
    ++at_;
    return value;
  }
  void skip(std::size_t bytes) { at_ += bytes; }

  void read_prefixes() {
    while (at_ < longest_x86_instruction) {
      const unsigned value = peek();
      switch (value) {
        case 0x66:
          operand_size_ = true;
          break;
        case 0xF3:
          repeat_ = pF3;
          break;
        case 0xF2:
          repeat_ = pF2;
          break;
        case 0x67:
          short_address_ = true;
          break;
        case 0xF0:
        case 0x2E:
        case 0x36:
        case 0x3E:
        case 0x26:
        case 0x64:
        case 0x65:
          lock_ = lock_ || value == 0xF0;
          break;
        default:
          if ((value & 0xF0) != 0x40) return;
          // A REX prefix counts only directly before the opcode.
          rex_ = value;
          ++at_;
          if (!is_prefix(peek())) return;
          rex_ = 0;
          continue;
      }
      ++at_;
    }
  }

  static bool is_prefix(unsigned value) {
    switch (value) {
      case 0x66:
      case 0x67:
      case 0xF0:
      case 0xF2:
      case 0xF3:
      case 0x2E:
      case 0x36:
      case 0x3E:
      case 0x26:
      case 0x64:
      case 0x65:
        return true;
      default:
        return (value & 0xF0) == 0x40;
    }
  }

  [[nodiscard]] bool wide() const { return (rex_ & 8) != 0; }
  [[nodiscard]] std::size_t mandatory_prefix() const {
    return static_cast<std::size_t>(repeat_ != np ? repeat_ : operand_size_ ? p66 : np);
  }

  void read_modrm() {
    const unsigned value = next();
    modrm_ = value;
    const unsigned mode = value >> 6;
    if (mode == 3) return;
    unsigned base = value & 7;
    if (base == 4) base = next() & 7;
    if (mode == 1) skip(1);
    if (mode == 2 || (mode == 0 && base == 5)) skip(4);
  }

  void read_immediates(std::uint8_t shape) {
    if ((shape & byte) != 0) skip(1);
    if ((shape & number) != 0) skip(operand_size_ && !wide() ? 2 : 4);
    if ((shape & jump) != 0) skip(4);
  }

  void read_one_byte(unsigned opcode) {
    const std::uint8_t shape = tables_.one_byte[opcode];
    if (shape == bad) {
      valid_ = false;
    } else if (shape == other) {
      read_other(opcode);
    } else {
      if ((shape & modrm) != 0) read_modrm();
      read_immediates(shape);
      if (opcode >= 0xFE) valid_ = opcode == 0xFF ? group() != 7 : group() < 2;
      if (opcode == 0x9E || opcode == 0x9F) reveal(Capability::lahf_lm);
    }
  }

  void read_other(unsigned opcode) {
    switch (opcode) {
      case 0xC2:
      case 0xCA:
        skip(2);
        return;
      case 0xC8:
        skip(3);
        return;
      case 0xF6:
      case 0xF7:
        read_modrm();
        if (group() < 2) read_immediates(opcode == 0xF6 ? byte : number);
        return;
      default:
        if (opcode >= 0xB8) {
          skip(wide() ? 8 : operand_size_ ? 2 : 4);
        } else {
          skip(short_address_ ? 4 : 8);
        }
    }
  }

  void read_two_bytes() {
    const unsigned opcode = next();
    if (opcode == 0x38 || opcode == 0x3A) {
      const unsigned third = next();
      read_modrm();
      if (opcode == 0x3A) skip(1);
      look_up(legacy, opcode == 0x38 ? 2 : 3, mandatory_prefix(), wide() ? 1 : 0, 0, third);
      return;
    }
    const std::uint8_t shape = tables_.two_bytes[opcode];
    if (shape == bad) {
      valid_ = false;
    } else if (shape == other) {
      if (opcode == 0x78) {
        read_modrm();
        if (mandatory_prefix() == p66 || mandatory_prefix() == pF2) skip(2);  // SSE4a
      } else {
        skip(1);  // of control registers: always a register
      }
    } else {
      if ((shape & modrm) != 0) read_modrm();
      read_immediates(shape);
    }
    look_up(legacy, 1, mandatory_prefix(), wide() ? 1 : 0, 0, opcode);
    read_groups(opcode);
  }

  /// What the field `reg` of ModRM decides, as does whether there is memory.
  void read_groups(unsigned opcode) {
    const bool memory = modrm_ < 0xC0;
    if (opcode == 0xA2) asks_cpu_ = true;
    if (opcode == 0x01 && modrm_ == 0xD0) {
      asks_cpu_ = true;
      reveal(Capability::xsave);
    }
    if (opcode == 0x01 && modrm_ == 0xFC) reveal(Capability::clzero);
    if (opcode == 0x01 && modrm_ == 0xE8 && mandatory_prefix() == np) reveal(Capability::serialize);
    if (opcode == 0x01 && (modrm_ == 0xEE || modrm_ == 0xEF) && mandatory_prefix() == np)
      reveal(Capability::pku);
    if (opcode == 0x1C && memory && group() == 0 && mandatory_prefix() == np)
      reveal(Capability::cldemote);
    if (opcode == 0xAE) read_group_15(memory);
    if (opcode != 0xC7) return;
    if (memory) {
      if (group() == 1 && wide()) reveal(Capability::cx16);
      if (group() == 4) reveal(Capability::xsavec);
      valid_ = valid_ && group() != 0 && group() != 2;
    } else if (group() == 6) {
      reveal(Capability::rdrand);
    } else if (group() == 7) {
      reveal(repeat_ == pF3 ? Capability::rdpid : Capability::rdseed);
    } else {
      valid_ = false;
    }
  }

  void read_group_15(bool memory) {
    if (!memory) {
      constexpr unsigned first_fence = 5;
      if (repeat_ == pF3 && group() < 4) reveal(Capability::fsgsbase);
      if (repeat_ == np && group() < first_fence) valid_ = false;
      if (group() == 6 && mandatory_prefix() != np) reveal(Capability::waitpkg);
    } else if (repeat_ == np) {
      if (group() == 4 || group() == 5) reveal(Capability::xsave);
      if (group() == 6) reveal(operand_size_ ? Capability::clwb : Capability::xsaveopt);
      if (group() == 7 && operand_size_) reveal(Capability::clflushopt);
    }
  }

  /// VEX, EVEX and XOP exclude the prefixes that they replace.
  [[nodiscard]] bool may_have_vex() const {
    return repeat_ == np && !operand_size_ && !lock_ && rex_ == 0;
  }

  void read_vex(bool three_bytes) {
    valid_ = may_have_vex();
    unsigned map = 1;
    unsigned last = next();
    if (three_bytes) {
      map = last & 0x1F;
      last = next();
    }
    const bool wide = three_bytes && (last & 0x80) != 0;
    const unsigned opcode = next();
    valid_ = valid_ && map >= 1 && map <= 3;
    if (!valid_) return;
    if (map != 1 || opcode != 0x77) read_modrm();
    if (map == 3 || (map == 1 && (tables_.two_bytes[opcode] & byte) != 0)) skip(1);
    look_up(vex, map, last & 3, wide ? 1 : 0, (last >> 2) & 1, opcode);
    const bool group_17 = map == 2 && opcode == 0xF3;
    if (group_17) valid_ = valid_ && group() >= 1 && group() <= 3;
  }

  void read_evex() {
    const unsigned first = next();
    const unsigned second = next();
    const unsigned third = next();
    const unsigned map = first & 7;
    const unsigned opcode = next();
    valid_ =
        may_have_vex() && (first & 8) == 0 && (second & 4) != 0 && map != 0 && map != 4 && map != 7;
    if (!valid_) return;
    read_modrm();
    if (map == 3 || (map == 1 && (tables_.two_bytes[opcode] & byte) != 0)) skip(1);
    look_up(evex, map, second & 3, second >> 7, 1, opcode);
    const bool whole = (third & 0x60) == 0x40 || (third & 0x10) != 0;  // 512 bits, or its rounding
    if (capability_ == static_cast<std::uint16_t>(Capability::avx512f) && !whole && !is_scalar())
      reveal(Capability::avx512vl);
    scalar_ = false;
  }

  [[nodiscard]] bool is_scalar() const { return scalar_; }

  /// AMD's XOP and TBM: of no CPU since 2017.
  void read_xop() {
    const unsigned map = next() & 0x1F;
    skip(1);
    const unsigned opcode = next();
    valid_ = may_have_vex() && map <= 10;
    read_modrm();
    if (map == 8) skip(1);
    if (map == 10) skip(4);
    const bool tbm = map == 10 || (map == 9 && (opcode == 0x01 || opcode == 0x02));
    reveal(tbm ? Capability::tbm : Capability::xop);
  }

  void look_up(Form form, unsigned map, std::size_t prefix, std::size_t wide, std::size_t length,
               unsigned opcode) {
    capability_ = tables_.extensions[place_of(form, map, prefix, wide, length, opcode)];
    if (capability_ == absent) valid_ = false;
    scalar_ = map == 1 && (prefix == pF2 || prefix == pF3) && opcode < 0x60;
  }

  [[nodiscard]] unsigned group() const { return (modrm_ >> 3) & 7; }
  void reveal(Capability capability) { capability_ = static_cast<std::uint16_t>(capability); }

  const X86Tables& tables_;
  std::string_view code_;
  std::size_t at_ = 0;
  unsigned rex_ = 0;
  unsigned modrm_ = 0;
  int repeat_ = np;
  bool operand_size_ = false;
  bool short_address_ = false;
  bool lock_ = false;
  bool scalar_ = false;
  bool valid_ = true;
  bool asks_cpu_ = false;
  std::uint16_t capability_ = baseline;
};

}  // namespace

X86Instruction read_x86_instruction(std::string_view code) { return Reading(code).run(); }

}  // namespace axle::binaries
