#include "cli/output.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/interruption.h"
#include "foundation/text/byte_size.h"
#include "foundation/text/printable.h"
#include "index/http/redaction.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

constexpr int schema_version = 2;

constexpr std::string_view end_of_color = "\033[0m";
/// In the order of Style, and the end. They are kept in printed text: other escape sequences are
/// removed.
constexpr std::array<std::string_view, 5> color_sequences = {"\033[32m", "\033[31m", "\033[2m",
                                                             "\033[1m", end_of_color};

std::string render_versioned(const ordered_json& body) {
  ordered_json out = {{"schema_version", schema_version}};
  if (body.is_object()) out.update(body);
  return render_json(out);
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

/// Zero, or the error number.
int write_whole(std::FILE* stream, std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size() &&
                       std::fflush(stream) == 0 && std::ferror(stream) == 0;
  if (written) return 0;
  return errno != 0 ? errno : EIO;
}

/// A message or an error that can be shared: without the secrets of URLs in it.
std::string shown(std::string_view text) { return text::printable(index::redact_url(text)); }

}  // namespace

std::string render_json(const ordered_json& body) {
  return text::printable_json(body.dump(2, ' ', false, ordered_json::error_handler_t::replace)) +
         "\n";
}

Output::~Output() { clear_progress(); }

void Output::clear_progress() {
  if (!progress_shown_) return;
  write(stderr, "\r\033[K");
  progress_shown_ = false;
  note_progress(false);
}

void Output::add(Remark remark) {
  if (options_.quiet || (remark.severity == Severity::detail && !options_.verbose)) return;
  clear_progress();
  const bool warning = remark.severity == Severity::warning;
  std::string line = shown((warning ? "warning: " : "") + remark.message) + "\n";
  if (!remark.hint.empty()) line += shown("  hint: " + complete_hint(remark.hint, run_)) + "\n";
  write(stderr, line);
}

void Output::progress(std::string_view what, std::uint64_t done, std::uint64_t total) {
  if (!options_.progress || options_.quiet || is_ending()) return;
  const std::uint64_t tick = now_in_ticks();
  if (tick == progress_tick_) return;
  progress_tick_ = tick;
  std::string line = fmt::format("\r\033[K{} {}", text::printable(what), text::render_bytes(done));
  if (total != 0) {
    line += fmt::format(" of {} ({} %)", text::render_bytes(total),
                        done >= total ? 100 : done * 100 / total);
  }
  note_progress(true);
  write(stderr, line);
  progress_shown_ = true;
}

int Output::answer(const Answer& answer, int exit_code) {
  return write_answer(options_.json ? render_versioned(answer.json()) : for_terminal(answer.text()),
                      exit_code);
}

int Output::answer_text(std::string_view text) { return write_answer(for_terminal(text), 0); }

std::string Output::for_terminal(std::string_view text) const {
  return text::printable(
      text, options_.color ? std::span(color_sequences) : std::span<const std::string_view>());
}

int Output::write_answer(std::string_view whole, int exit_code) {
  clear_progress();
  std::fflush(stderr);
  const int trouble = write_whole(stdout, whole);
  if (trouble == EPIPE && !changed_) return exit_closed_pipe;
  if (trouble != 0) {
    write(stderr,
          changed_ ? "error: the change was made; only its report could not be written to stdout\n"
                   : "error: the result could not be written to stdout\n");
    return exit_code == 0 ? 1 : exit_code;
  }
  return exit_code;
}

void Output::remark_error(const Error& error, const std::vector<std::string>& lines) {
  clear_progress();
  std::string text = shown("error: " + error.message) + "\n";
  for (const std::string& line : lines) text += shown("  " + line) + "\n";
  if (!error.hint.empty()) text += shown("  hint: " + complete_hint(error.hint, run_)) + "\n";
  std::fflush(stdout);
  write(stderr, text);
}

int Output::failure(const session::CommandFailure& failure, const Answer& known) {
  if (!options_.json) {
    const std::string text = known.text ? known.text() : std::string();
    if (!text.empty()) write_answer(for_terminal(text), failure.exit_code);
    remark_error(failure.error, failure.lines);
    return failure.exit_code;
  }
  ordered_json out = known.json ? known.json() : ordered_json::object();
  ordered_json error = error_json(failure);
  if (out.contains("error")) error.update(out["error"]);
  out["error"] = std::move(error);
  return write_answer(render_versioned(out), failure.exit_code);
}

ordered_json Output::error_json(const session::CommandFailure& failure) const {
  return {{"kind", failure.usage ? "usage" : render_kind(failure.error.kind)},
          {"message", index::redact_url(failure.error.message)},
          {"hint", index::redact_url(complete_hint(failure.error.hint, run_))}};
}

std::string Output::paint(Style style, std::string_view text) const {
  if (!options_.color) return std::string(text);
  return fmt::format("{}{}{}", color_sequences[static_cast<std::size_t>(style)], text,
                     end_of_color);
}

}  // namespace axle::cli
