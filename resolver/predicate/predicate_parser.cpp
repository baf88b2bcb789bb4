// Reads what render_predicate writes: atoms, each a fact, a sign and a value, joined by "and".

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "detect/nvidia/cuda_drivers.h"
#include "foundation/text/ascii.h"
#include "foundation/text/nearest.h"
#include "foundation/text/printable.h"
#include "providers/gpu_archs.h"
#include "resolver/predicate/predicate.h"

namespace axle::resolver {
namespace {

constexpr std::size_t longest_predicate = 16384;  ///< bytes
constexpr std::size_t longest_value = 200;

std::unexpected<Error> refuse(std::string_view atom, const std::string& why,
                              std::string hint = {}) {
  return fail(ErrorKind::malformed,
              fmt::format("\"{}\" is not a condition on machines: {}", text::printable(atom), why),
              std::move(hint));
}

/// The words that predicates use for facts.
std::vector<std::string> fact_words() {
  std::vector<std::string> words = {"glibc", "musl", "cuda"};
  for (const FactRow& row : fact_rows()) words.emplace_back(row.name);
  return words;
}

FactKind kind_of(std::string_view fact) {
  if (fact == "glibc" || fact == "musl" || fact == "cuda") return FactKind::ordered;
  return find_fact_row(fact)->kind;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::string_view since(std::size_t start) const {
    return text_.substr(start, at_ - start);
  }
  [[nodiscard]] bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  /// Up to a blank or one of ",{}".
  std::string_view word() {
    skip_blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() &&
           std::string_view(" ,{}").find(text_[at_]) == std::string_view::npos)
      ++at_;
    return text_.substr(start, at_ - start);
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<std::string_view> quoted() {
    if (!take('"')) return std::nullopt;
    const std::size_t start = at_;
    const std::size_t end = text_.find('"', start);
    if (end == std::string_view::npos) return std::nullopt;
    at_ = end + 1;
    return text_.substr(start, end - start);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<AtomKind> kind_of_sign(std::string_view sign) {
  if (sign == ">=") return AtomKind::at_least;
  if (sign == "<") return AtomKind::below;
  if (sign == "=") return AtomKind::equal;
  if (sign == "in") return AtomKind::one_of;
  if (sign == "has") return AtomKind::has;
  if (sign == "lacks") return AtomKind::lacks;
  return std::nullopt;
}

bool is_allowed(FactKind fact, AtomKind kind) {
  if (fact == FactKind::flag) return kind == AtomKind::has || kind == AtomKind::lacks;
  if (kind == AtomKind::none) return true;
  const bool bound = kind == AtomKind::at_least || kind == AtomKind::below;
  return fact == FactKind::ordered ? bound : kind == AtomKind::equal || kind == AtomKind::one_of;
}

bool is_plain(std::string_view value) {
  return !value.empty() && value.size() <= longest_value && std::ranges::all_of(value, [](char c) {
    return text::is_ascii_alnum(c) || std::string_view("._+-").find(c) != std::string_view::npos;
  });
}

/// "2.28": two numbers as they are written.
bool is_version(std::string_view value) {
  const auto version = providers::parse_major_minor(value);
  return version && fmt::format("{}.{}", version->first, version->second) == value;
}

/// Why `value` cannot be one of `fact`; nullopt: it can.
std::optional<Error> why_no_value(std::string_view fact, const std::string& value) {
  const auto no = [&](std::string why, std::string hint) {
    return Error{ErrorKind::malformed, std::move(why), std::move(hint)};
  };
  const auto known = [&](std::string_view title) -> std::optional<Error> {
    const auto& values = known_values(fact);
    if (std::ranges::find(values, value) != values.end()) return std::nullopt;
    return no(fmt::format("there is no {} {}", title, text::printable(value)),
              text::suggest(value, values, "known are " + text::joined_by_or(values)));
  };
  if (fact == "x86_64" || fact == "aarch64") return known(find_fact_row(fact)->title);
  if (fact == "cpu") {
    if (detect::find_capability(value)) return std::nullopt;
    std::vector<std::string> names;
    for (const detect::CapabilityRow& row : detect::capabilities()) names.emplace_back(row.name);
    return no(fmt::format("no capability of a CPU is called {}", text::printable(value)),
              text::did_you_mean(value, names));
  }
  if (fact == "property") {
    const auto property = wheel::parse_property(value);
    if (property && wheel::render_property(*property) == value) return std::nullopt;
    return no(fmt::format("{} is not a property", text::printable(value)),
              "the form is \"namespace :: feature :: value\"");
  }
  if (fact == "driver") {
    const std::string_view cuda = detect::cuda_of_driver(value);
    if (!cuda.empty() && detect::first_driver_of_cuda(cuda) == value) return std::nullopt;
    return no(fmt::format("{} is not the first release of a driver branch", text::printable(value)),
              cuda.empty()
                  ? "for example 570.26"
                  : fmt::format("that of its branch is {}", detect::first_driver_of_cuda(cuda)));
  }
  if (kind_of(fact) == FactKind::ordered && !is_version(value))
    return no(fmt::format("{} is not a version of two numbers", text::printable(value)), {});
  if (fact == "cuda" && !detect::first_driver_of_cuda(value).empty())
    return no(fmt::format("CUDA {} has a driver branch", value),
              fmt::format("name driver {}", detect::first_driver_of_cuda(value)));
  if (fact == "libc" && value != "glibc" && value != "musl")
    return no(fmt::format("there is no C library {} here", text::printable(value)),
              "glibc or musl");
  if (!is_plain(value)) return no(fmt::format("{} is not a value", text::printable(value)), {});
  return std::nullopt;
}

Result<Atom> parse_atom(Scanner& scanner) {
  const std::size_t start = scanner.at();
  const auto refuse_here = [&](const std::string& why, std::string hint = {}) {
    return refuse(scanner.since(start), why, std::move(hint));
  };
  Atom atom;
  atom.fact = scanner.word();
  const std::vector<std::string> words = fact_words();
  if (std::ranges::find(words, atom.fact) == words.end())
    return refuse_here(fmt::format("{} is no fact of a machine", text::printable(atom.fact)),
                       text::suggest(atom.fact, words, "facts are " + text::joined_by_or(words)));
  const std::string sign(scanner.word());
  const auto kind = kind_of_sign(sign);
  if (!kind)
    return refuse_here(fmt::format("{} is followed by {}", atom.fact,
                                   sign.empty() ? "nothing" : text::printable(sign)),
                       "by >=, <, =, in {…}, has or lacks");
  atom.kind = *kind;
  if (atom.fact == "property") {
    const auto quoted = scanner.quoted();
    if (!quoted) return refuse_here("a property stands in quotes");
    atom.values.emplace_back(*quoted);
  } else if (*kind == AtomKind::one_of) {
    if (!scanner.take('{'))
      return refuse_here("after \"in\" come values in braces", "sm in {80, 90}");
    do {
      atom.values.emplace_back(scanner.word());
    } while (scanner.take(','));
    if (!scanner.take('}')) return refuse_here("the brace is not closed");
  } else {
    atom.values.emplace_back(scanner.word());
  }
  const bool set = *kind == AtomKind::equal || *kind == AtomKind::one_of;
  if (*kind == AtomKind::equal && atom.values.front() == "none") {
    atom.kind = AtomKind::none;
    atom.values.clear();
  }
  if (!is_allowed(kind_of(atom.fact), atom.kind))
    return refuse_here(fmt::format("{} is not compared with {}", atom.fact, sign));
  const bool gpus = atom.fact == "sm" || atom.fact == "gfx" || atom.fact == "device";
  const bool mixed = std::ranges::find(atom.values, mixed_gpus) != atom.values.end();
  const auto single = [](const std::string& value) {
    return value != "none" && value != mixed_gpus && !value.contains('+');
  };
  if (mixed && (!gpus || std::ranges::count_if(atom.values, single) < 2))
    return refuse_here("only several GPUs of a set can be mixed");
  for (const std::string& value : atom.values) {
    if (set && value == "none") continue;
    if (auto why = why_no_value(atom.fact, value)) return refuse_here(why->message, why->hint);
  }
  return atom;
}

/// The architectures that an atom leaves; nullopt: all.
std::optional<std::vector<std::string>> architectures_of(const Atom& atom) {
  const bool set = atom.kind == AtomKind::equal || atom.kind == AtomKind::one_of;
  if (atom.fact == "arch") return atom.values;
  const bool needs = atom.kind == AtomKind::at_least || atom.kind == AtomKind::has ||
                     (set && std::ranges::find(atom.values, "none") == atom.values.end());
  const std::string fact =
      atom.fact == "cpu" ? std::string(cpu_fact) + atom.values.front() : atom.fact;
  const std::string_view arch = architecture_of_fact(fact);
  if (!needs || arch.empty()) return std::nullopt;
  return std::vector{std::string(arch)};
}

/// The C library that it needs; "": any.
std::string_view libc_needed(const Atom& atom) {
  if (atom.fact == "libc" && atom.kind == AtomKind::equal) return atom.values.front();
  const bool versioned = atom.fact == "glibc" || atom.fact == "musl";
  return versioned && atom.kind == AtomKind::at_least ? std::string_view(atom.fact)
                                                      : std::string_view();
}

/// Both name a system, and none is in both.
bool are_of_other_systems(const Atom& left, const Atom& right) {
  const std::string_view needed = system_needed(left);
  if (needed.empty()) return false;
  const bool set = right.kind == AtomKind::equal || right.kind == AtomKind::one_of;
  if (right.fact == "system" && set)
    return std::ranges::find(right.values, needed) == right.values.end();
  const std::string_view other = system_needed(right);
  return !other.empty() && other != needed;
}

bool contradict(const Atom& left, const Atom& right) {
  const auto left_archs = architectures_of(left);
  const auto right_archs = architectures_of(right);
  if (left_archs && right_archs && std::ranges::none_of(*left_archs, [&](const std::string& arch) {
        return std::ranges::find(*right_archs, arch) != right_archs->end();
      })) {
    return true;
  }
  const std::string_view libc = libc_needed(left);
  const std::string_view other = libc_needed(right);
  if (!libc.empty() && !other.empty() && libc != other) return true;
  if (are_of_other_systems(left, right)) return true;
  const auto bound = [](const Atom& atom) {
    return atom.fact == "driver" ? detect::cuda_of_driver(atom.values.front())
                                 : std::string_view(atom.values.front());
  };
  const auto as_cuda = [](const Atom& atom) {
    return atom.fact == "cuda" ? std::string_view("driver") : std::string_view(atom.fact);
  };
  const bool same = as_cuda(left) == as_cuda(right);
  if (same && left.kind == AtomKind::at_least && right.kind == AtomKind::below)
    return !is_older(bound(left), bound(right));
  if (same && left.kind == AtomKind::at_least && right.kind == AtomKind::none) return true;
  if (left.fact == "cpu" && right.fact == "cpu" && left.values == right.values)
    return left.kind != right.kind;
  if (left.fact == "property" && right.fact == "property" && left.values == right.values)
    return left.kind != right.kind;
  // A level has all that it consists of.
  if (left.fact != "x86_64" || left.kind != AtomKind::at_least || right.kind != AtomKind::lacks ||
      right.fact != "cpu") {
    return false;
  }
  const auto lacking = detect::find_capability(right.values.front());
  for (unsigned level = 1; level <= static_cast<unsigned>(left.values.front().back() - '0');
       ++level) {
    const auto own = detect::x86_64_level(level);
    if (lacking && std::ranges::find(own, *lacking) != own.end()) return true;
  }
  return false;
}

bool say_the_same_thing(const Atom& left, const Atom& right) {
  if (left.fact != right.fact) return false;
  if (kind_of(left.fact) == FactKind::flag) return left.values == right.values;
  const bool bounds = (left.kind == AtomKind::at_least && right.kind == AtomKind::below) ||
                      (left.kind == AtomKind::below && right.kind == AtomKind::at_least);
  return !bounds;
}

Result<void> check(const Predicate& predicate) {
  for (std::size_t i = 0; i < predicate.atoms.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Atom& left = predicate.atoms[j];
      const Atom& right = predicate.atoms[i];
      if (contradict(left, right) || contradict(right, left))
        return fail(ErrorKind::malformed,
                    fmt::format("\"{}\" contradicts \"{}\": no machine meets both",
                                render_atom(left), render_atom(right)));
      if (say_the_same_thing(left, right))
        return fail(ErrorKind::malformed,
                    fmt::format("\"{}\" and \"{}\" are two conditions on one fact",
                                render_atom(left), render_atom(right)));
    }
  }
  return {};
}

}  // namespace

std::string_view system_needed(const Atom& atom) {
  if (!libc_needed(atom).empty()) return "linux";
  const bool of_mac = atom.fact == "macos" || atom.fact == "mps";
  if (of_mac && atom.kind == AtomKind::at_least) return "darwin";
  const bool one = atom.fact == "system" && atom.kind == AtomKind::equal;
  return one ? std::string_view(atom.values.front()) : std::string_view();
}

Result<Predicate> parse_predicate(std::string_view text) {
  Predicate predicate;
  if (text.size() > longest_predicate)
    return fail(ErrorKind::malformed, "a condition on machines of more than 16 KiB");
  if (text == render_predicate({})) return predicate;
  Scanner scanner(text);
  while (true) {
    auto atom = parse_atom(scanner);
    if (!atom) return std::unexpected(std::move(atom).error());
    predicate.atoms.push_back(std::move(*atom));
    if (scanner.at_end()) break;
    const std::size_t start = scanner.at();
    if (scanner.word() != "and")
      return refuse(text.substr(start), "conditions are joined by \"and\"");
  }
  put_in_order(predicate);
  if (const auto sound = check(predicate); !sound) return std::unexpected(sound.error());
  return predicate;
}

}  // namespace axle::resolver
