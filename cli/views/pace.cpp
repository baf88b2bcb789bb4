#include "cli/views/pace.h"

#include <fmt/format.h>

#include "foundation/text/byte_size.h"

namespace axle::cli {

std::string render_duration(std::uint64_t seconds) {
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

std::string Pace::note(std::string_view what, std::uint64_t done, std::uint64_t total,
                       std::uint64_t now) {
  constexpr std::uint64_t shortest = 500;
  const std::string_view name = what.substr(what.rfind(' ') + 1);
  auto [place, is_new] = seen_.try_emplace(std::string(name), Seen{done, now, done});
  Seen& seen = place->second;
  if (done < seen.last_done) seen = {done, now, done};
  seen.last_done = done;
  const std::uint64_t elapsed = now - seen.first_time;
  if (is_new || elapsed < shortest || done == seen.first_done) return {};
  const std::uint64_t speed = (done - seen.first_done) * 1000 / elapsed;
  if (speed == 0) return {};
  std::string text = fmt::format(", {}/s", text::render_bytes(speed));
  if (total > done)
    text += fmt::format(", {} left", render_duration((total - done + speed - 1) / speed));
  return text;
}

}  // namespace axle::cli
