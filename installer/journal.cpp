#include "installer/journal.h"

#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "wheel/sha256.h"

namespace axle::installer {
namespace {

// Fields end with NUL, the one byte that no path holds:
// header, title, then <direction><number> and path for each move, then the hash of all before it.
constexpr std::string_view header = "axle-journal 1";
constexpr std::string_view header_name = "axle-journal ";

void append_field(std::string& text, std::string_view field) { text.append(field).push_back('\0'); }

std::optional<std::string_view> next_field(std::string_view& text) {
  const std::size_t end = text.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end + 1);
  return field;
}

bool is_safe_path(std::string_view path) {
  if (path.empty() || path == ".axle" || path.starts_with(".axle/")) return false;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

std::optional<Move> parse_move(std::string_view verb, std::string_view path) {
  if (verb.size() < 2 || (verb[0] != '-' && verb[0] != '+') || !is_safe_path(path))
    return std::nullopt;
  Move move{verb[0] == '-' ? Direction::out : Direction::in, 0, std::string(path)};
  const char* end = verb.data() + verb.size();
  const auto [rest, error] = std::from_chars(verb.data() + 1, end, move.number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return move;
}

}  // namespace

std::string render_journal(const Journal& journal) {
  std::string text;
  append_field(text, header);
  append_field(text, journal.title.substr(0, journal.title.find('\0')));
  for (const Move& move : journal.moves) {
    append_field(text,
                 fmt::format("{}{}", move.direction == Direction::out ? '-' : '+', move.number));
    append_field(text, move.path);
  }
  const std::string hash = wheel::render_hex(wheel::sha256(text));
  append_field(text, hash);
  return text;
}

Result<Journal> parse_journal(std::string_view text, std::string_view where) {
  const auto malformed = [&](std::string_view why) {
    return fail(ErrorKind::malformed, fmt::format("{}: {}", where, why),
                "the environment cannot be mended by itself: make it anew");
  };
  std::string_view rest = text;
  const std::optional<std::string_view> version = next_field(rest);
  if (!version || !version->starts_with(header_name)) return malformed("no journal");
  if (*version != header) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: a journal of another version of Axle ({})", where, *version),
                "finish with the version that began it");
  }
  constexpr std::size_t hash_field = 65;  // 64 digits and NUL
  if (rest.size() < hash_field) return malformed("the journal is cut off");
  const std::string_view body = text.substr(0, text.size() - hash_field);
  const std::string_view hash = text.substr(body.size(), hash_field - 1);
  if (text.back() != '\0' || wheel::render_hex(wheel::sha256(body)) != hash) {
    return malformed("the journal does not match its own hash");
  }
  rest.remove_suffix(hash_field);
  const std::optional<std::string_view> title = next_field(rest);
  if (!title) return malformed("no title");
  Journal journal{std::string(*title), {}};
  std::set<std::pair<Direction, std::uint32_t>> seen;
  while (!rest.empty()) {
    const std::optional<std::string_view> verb = next_field(rest);
    const std::optional<std::string_view> path = verb ? next_field(rest) : std::nullopt;
    std::optional<Move> move = path ? parse_move(*verb, *path) : std::nullopt;
    if (!move || !seen.emplace(move->direction, move->number).second) {
      return malformed(fmt::format("move {} is none", journal.moves.size() + 1));
    }
    journal.moves.push_back(std::move(*move));
  }
  return journal;
}

}  // namespace axle::installer
