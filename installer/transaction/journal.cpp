#include "installer/transaction/journal.h"

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "installer/sealed_fields.h"

namespace axle::installer {
namespace {

// Sealed fields: header, title, then for each move <direction><number>, path, packages, the number
// of its leaves and each of these as two fields, "<size> <modified>" and path.
constexpr std::string_view header_name = "axle-journal ";
constexpr std::string_view journal_version = "2";

std::optional<Move> parse_move(std::string_view verb, std::string_view path) {
  if (verb.size() < 2 || (verb[0] != '-' && verb[0] != '+') || !is_safe_path(path))
    return std::nullopt;
  Move move{verb[0] == '-' ? Direction::out : Direction::in, 0, std::string(path), {}, {}};
  if (!read_number(verb.substr(1), move.number)) return std::nullopt;
  return move;
}

std::optional<Leaf> next_leaf(std::string_view& rest) {
  const auto stamp = next_field(rest);
  const auto path = stamp ? next_field(rest) : std::nullopt;
  if (!path || !(path->empty() || is_plain_path(*path))) return std::nullopt;
  Leaf leaf{std::string(*path), 0, 0};
  const std::size_t space = std::min(stamp->find(' '), stamp->size());
  if (!read_number(stamp->substr(0, space), leaf.size) || space == stamp->size() ||
      !read_number(stamp->substr(space + 1), leaf.modified))
    return std::nullopt;
  return leaf;
}

std::optional<Move> next_move(std::string_view& rest) {
  const auto verb = next_field(rest);
  const auto path = verb ? next_field(rest) : std::nullopt;
  std::optional<Move> move = path ? parse_move(*verb, *path) : std::nullopt;
  const auto packages = move ? next_field(rest) : std::nullopt;
  const auto count = packages ? next_field(rest) : std::nullopt;
  std::uint64_t leaves = 0;
  if (!count || !read_number(*count, leaves)) return std::nullopt;
  move->packages = *packages;
  for (std::uint64_t i = 0; i < leaves; ++i) {
    auto leaf = next_leaf(rest);
    if (!leaf) return std::nullopt;
    move->leaves.push_back(std::move(*leaf));
  }
  if (!std::ranges::is_sorted(move->leaves)) return std::nullopt;
  return move;
}

}  // namespace

void name_packages(std::vector<Move>& moves, const std::vector<std::set<std::string>>& own) {
  std::map<std::string_view, std::set<std::string>> of_path;
  for (std::size_t i = 0; i < moves.size(); ++i)
    of_path[moves[i].path].insert(own[i].begin(), own[i].end());
  std::list<std::set<std::string>> groups;
  for (auto& [path, names] : of_path) {
    std::set<std::string> joined = names;
    for (auto group = groups.begin(); group != groups.end();) {
      const bool shared = std::ranges::any_of(
          names, [&](const std::string& name) { return group->contains(name); });
      if (shared) joined.merge(*group);
      group = shared ? groups.erase(group) : std::next(group);
    }
    groups.push_back(std::move(joined));
  }
  for (Move& move : moves) {
    const std::set<std::string>& names = of_path[move.path];
    if (names.empty()) continue;
    const auto group = std::ranges::find_if(
        groups, [&](const std::set<std::string>& one) { return one.contains(*names.begin()); });
    move.packages = fmt::format("{}", fmt::join(*group, " "));
  }
}

std::string render_journal(const Journal& journal) {
  // That of a large change has megabytes: it does not grow.
  constexpr std::size_t of_a_move = 64;
  constexpr std::size_t of_a_leaf = 2 * 21 + 1;
  std::size_t most = 256 + journal.title.size();
  for (const Move& move : journal.moves) {
    most += of_a_move + move.path.size() + move.packages.size();
    for (const Leaf& leaf : move.leaves) most += of_a_leaf + leaf.path.size();
  }
  std::string text;
  text.reserve(most);
  append_field(text, std::string(header_name).append(journal_version));
  append_field(text, journal.title.substr(0, journal.title.find('\0')));
  for (const Move& move : journal.moves) {
    append_field(text,
                 fmt::format("{}{}", move.direction == Direction::out ? '-' : '+', move.number));
    append_field(text, move.path);
    append_field(text, move.packages);
    append_number(text, move.leaves.size());
    for (const Leaf& leaf : move.leaves) {
      append_number(text, leaf.size);
      text.back() = ' ';
      append_number(text, leaf.modified);
      append_field(text, leaf.path);
    }
  }
  seal_fields(text);
  return text;
}

Result<Journal> parse_journal(std::string_view text, std::string_view where) {
  const auto malformed = [&](std::string_view why) {
    return fail(ErrorKind::malformed, fmt::format("{}: {}", where, why));
  };
  auto body = open_sealed_fields(text, header_name, journal_version, "journal", where);
  if (!body) return std::unexpected(body.error());
  std::string_view rest = *body;
  const std::optional<std::string_view> title = next_field(rest);
  if (!title) return malformed("no title");
  Journal journal{std::string(*title), {}};
  std::set<std::pair<Direction, std::uint32_t>> seen;
  while (!rest.empty()) {
    std::optional<Move> move = next_move(rest);
    if (!move || !seen.emplace(move->direction, move->number).second) {
      return malformed(fmt::format("move {} is not valid", journal.moves.size() + 1));
    }
    journal.moves.push_back(std::move(*move));
  }
  return journal;
}

}  // namespace axle::installer
