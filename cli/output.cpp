#include "cli/output.h"

#include <chrono>
#include <cstdio>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

constexpr int schema_version = 1;

ordered_json versioned(const ordered_json& body) {
  ordered_json out = {{"schema_version", schema_version}};
  if (body.is_object()) out.update(body);
  return out;
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::uint64_t now_in_ticks() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count() /
                                    50);
}

void write(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

/// Text that came from outside must not steer the terminal.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string render_json(const ordered_json& body) {
  return body.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Output::~Output() { clear_progress(); }

void Output::clear_progress() {
  if (!progress_shown_) return;
  write(stderr, "\r\033[K");
  progress_shown_ = false;
}

void Output::add(Remark remark) {
  if (options_.quiet) return;
  clear_progress();
  const bool warning = remark.severity == Severity::warning;
  std::string line = printable((warning ? "warning: " : "") + remark.message) + "\n";
  if (!remark.hint.empty()) line += printable("  hint: " + remark.hint) + "\n";
  write(stderr, line);
}

void Output::progress(std::string_view what, std::uint64_t done, std::uint64_t total) {
  if (!options_.progress || options_.quiet) return;
  const std::uint64_t tick = now_in_ticks();
  if (tick == progress_tick_) return;
  progress_tick_ = tick;
  std::string line = fmt::format("\r\033[K{} {}", printable(what), human_bytes(done));
  if (total != 0) {
    line +=
        fmt::format(" of {} ({} %)", human_bytes(total), done >= total ? 100 : done * 100 / total);
  }
  write(stderr, line);
  progress_shown_ = true;
}

int Output::answer(std::string_view text, const ordered_json& body, int exit_code) {
  clear_progress();
  std::fflush(stderr);
  write(stdout, options_.json ? render_json(versioned(body)) : std::string(text));
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    write(stderr, "error: the answer could not be written to stdout\n");
    return exit_code == 0 ? 1 : exit_code;
  }
  return exit_code;
}

void Output::remark_error(const Error& error) {
  clear_progress();
  std::string text = printable("error: " + error.message) + "\n";
  if (!error.hint.empty()) text += printable("  hint: " + error.hint) + "\n";
  std::fflush(stdout);
  write(stderr, text);
}

int Output::failure(const Failure& failure, const ordered_json& body) {
  if (!options_.json) {
    remark_error(failure.error);
    return failure.exit_code;
  }
  ordered_json out = body.is_object() ? body : ordered_json::object();
  out["error"] = error_json(failure);
  return answer("", out, failure.exit_code);
}

int Output::failure(const Failure& failure) {
  return this->failure(failure, ordered_json::object());
}

ordered_json error_json(const Failure& failure) {
  return {{"kind", failure.usage ? "usage" : render_kind(failure.error.kind)},
          {"message", failure.error.message},
          {"hint", failure.error.hint}};
}

std::string Output::paint(Style style, std::string_view text) const {
  if (!options_.color) return std::string(text);
  const char* code = "0";
  switch (style) {
    case Style::good:
      code = "32";
      break;
    case Style::bad:
      code = "31";
      break;
    case Style::faint:
      code = "2";
      break;
    case Style::strong:
      code = "1";
      break;
  }
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

}  // namespace axle::cli
