#include "resolver/predicate/predicate.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "detect/nvidia/cuda_drivers.h"

namespace axle::resolver {
namespace {

constexpr std::string_view every_machine = "any machine";
constexpr std::string_view none_word = "none";

/// The fact of machine_facts.h that an atom is about.
std::string fact_behind(const Atom& atom) {
  if (atom.fact == "glibc" || atom.fact == "musl") return "libc";
  if (atom.fact == "cuda") return "driver";
  if (atom.fact == "cpu") return std::string(cpu_fact) + atom.values.front();
  if (atom.fact == "property") return std::string(property_fact) + atom.values.front();
  return atom.fact;
}

/// The bound as the fact has its values.
std::string_view bound_of(const Atom& atom) {
  const std::string& value = atom.values.front();
  return atom.fact == "driver" ? detect::cuda_of_driver(value) : std::string_view(value);
}

/// The value as `atom` compares it: of "glibc" the version alone, and nothing of a musl.
std::string_view seen_by(const Atom& atom, const FactValues& facts) {
  std::string_view value = value_of(facts, fact_behind(atom));
  if (atom.fact == "libc") return value.substr(0, value.find(' '));
  if (atom.fact != "glibc" && atom.fact != "musl") return value;
  const bool own = value.starts_with(atom.fact) && value.substr(atom.fact.size()).starts_with(' ');
  return own ? value.substr(atom.fact.size() + 1) : std::string_view();
}

bool is_listed(const Atom& atom, std::string_view value) {
  return std::ranges::find(atom.values, value) != atom.values.end();
}

/// "90+80", if the atom has both and says that they may be mixed.
bool is_mixture_of(const Atom& atom, std::string_view value) {
  if (!value.contains('+') || !is_listed(atom, mixed_gpus)) return false;
  while (!value.empty()) {
    const std::size_t end = std::min(value.find('+'), value.size());
    if (!is_listed(atom, value.substr(0, end))) return false;
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return true;
}

bool holds(const Atom& atom, const FactValues& facts) {
  const std::string_view value = seen_by(atom, facts);
  switch (atom.kind) {
    case AtomKind::none:
    case AtomKind::lacks:
      return value.empty();
    case AtomKind::has:
      return !value.empty();
    case AtomKind::at_least:
      return !value.empty() && !is_older(value, bound_of(atom));
    case AtomKind::below:
      return value.empty() || is_older(value, bound_of(atom));
    default:
      return is_listed(atom, value.empty() ? none_word : value) || is_mixture_of(atom, value);
  }
}

std::string describe_seen(const Atom& atom, const FactValues& facts) {
  const std::string fact = fact_behind(atom);
  const std::string_view value = value_of(facts, fact);
  if (atom.kind == AtomKind::has) return fmt::format("the {} lacks it", find_fact_row(fact)->title);
  if (atom.kind == AtomKind::lacks) return fmt::format("the {} has it", find_fact_row(fact)->title);
  if (fact == "macos" && value.empty())
    return fmt::format("operating system {}", value_of(facts, "system"));
  if (value.empty()) return fmt::format("{}: none, or it is unknown", find_fact_row(fact)->title);
  if (fact == "driver") return fmt::format("the driver runs CUDA up to {}", value);
  return fmt::format("{} {}", find_fact_row(fact)->title, value);
}

std::string_view sign_of(AtomKind kind) {
  switch (kind) {
    case AtomKind::at_least:
      return ">=";
    case AtomKind::below:
      return "<";
    case AtomKind::has:
      return "has";
    case AtomKind::lacks:
      return "lacks";
    default:
      return "=";
  }
}

}  // namespace

void put_in_order(Predicate& predicate) {
  for (Atom& atom : predicate.atoms) {
    if (atom.kind != AtomKind::one_of && atom.kind != AtomKind::equal) continue;
    // "none" first, then a machine's words by their letters and models by their numbers.
    const bool words = atom.fact == "system" || atom.fact == "arch";
    std::ranges::sort(atom.values, [&](const std::string& left, const std::string& right) {
      const auto group = [](const std::string& value) {
        return value == none_word ? 0 : value == mixed_gpus ? 2 : 1;
      };
      if (group(left) != group(right)) return group(left) < group(right);
      return words ? left < right : is_older(left, right);
    });
    atom.values.erase(std::ranges::unique(atom.values).begin(), atom.values.end());
    const bool none = atom.values == std::vector{std::string(none_word)};
    atom.kind = none                      ? AtomKind::none
                : atom.values.size() == 1 ? AtomKind::equal
                                          : AtomKind::one_of;
    if (none) atom.values.clear();
  }
  std::ranges::sort(predicate.atoms, {}, [](const Atom& atom) {
    const std::string fact = fact_behind(atom);
    return std::tuple(fact_order(fact), atom.fact != fact, atom.fact, atom.kind, atom.values);
  });
}

Atom driver_atom(AtomKind kind, std::string_view cuda) {
  const std::string_view driver = detect::first_driver_of_cuda(cuda);
  if (driver.empty()) return {"cuda", kind, {std::string(cuda)}};
  return {"driver", kind, {std::string(driver)}};
}

std::string render_atom(const Atom& atom) {
  if (atom.kind == AtomKind::none) return fmt::format("{} = none", atom.fact);
  if (atom.kind == AtomKind::one_of)
    return fmt::format("{} in {{{}}}", atom.fact, fmt::join(atom.values, ", "));
  const std::string& value = atom.values.front();
  if (atom.fact == "property") return fmt::format("property {} \"{}\"", sign_of(atom.kind), value);
  return fmt::format("{} {} {}", atom.fact, sign_of(atom.kind), value);
}

std::string render_predicate(const Predicate& predicate) {
  if (predicate.atoms.empty()) return std::string(every_machine);
  std::string text;
  for (const Atom& atom : predicate.atoms)
    text += (text.empty() ? "" : " and ") + render_atom(atom);
  return text;
}

std::vector<Misfit> misfits(const Predicate& predicate, const FactValues& facts) {
  std::vector<Misfit> found;
  for (const Atom& atom : predicate.atoms) {
    if (!holds(atom, facts)) found.push_back({atom, describe_seen(atom, facts)});
  }
  return found;
}

std::vector<Misfit> misfits(const Predicate& predicate, const detect::Machine& machine,
                            const providers::GpuPolicy& policy) {
  const FactValues facts = facts_of(machine, policy);
  std::vector<Misfit> found = misfits(predicate, facts);
  const detect::Driver* driver = detect::find_driver(machine, detect::GpuVendor::nvidia);
  const std::string_view cuda = value_of(facts, "driver");
  if (driver == nullptr || cuda.empty()) return found;
  const std::string& version =
      driver->library_version.empty() ? driver->kernel_version : driver->library_version;
  for (Misfit& misfit : found) {
    if (fact_behind(misfit.atom) == "driver" && !version.empty())
      misfit.seen = fmt::format("driver {} runs CUDA up to {}", version, cuda);
  }
  return found;
}

std::string render_misfit(const Misfit& misfit) {
  return fmt::format("{} ({})", render_atom(misfit.atom), misfit.seen);
}

std::size_t nearest_of(const std::vector<std::vector<Misfit>>& all) {
  const auto distance = [](const std::vector<Misfit>& misfits) {
    const bool elsewhere = std::ranges::any_of(misfits, [](const Misfit& misfit) {
      return misfit.atom.fact == "system" || misfit.atom.fact == "macos" ||
             misfit.atom.fact == "mps" || misfit.atom.fact == "arch";
    });
    return std::pair(misfits.size(), elsewhere);
  };
  const auto nearest = std::ranges::min_element(all, {}, distance);
  return static_cast<std::size_t>(nearest - all.begin());
}

}  // namespace axle::resolver
