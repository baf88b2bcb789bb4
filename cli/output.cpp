#include "cli/output.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/interruption.h"
#include "foundation/text/byte_size.h"
#include "foundation/text/printable.h"
#include "index/http/redaction.h"
#include "session/variables.h"

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

std::uint64_t now_in_milliseconds() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

/// Of the terminal on stderr; 80 where it does not say.
std::size_t columns_of_stderr() {
  winsize size = {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

/// `line` in so many bytes, since one that goes over the edge cannot be taken back.
std::string cut_to(std::string line, std::size_t columns) {
  if (line.size() <= columns) return line;
  while (columns > 0 && (static_cast<unsigned char>(line[columns]) & 0xc0U) == 0x80U) --columns;
  line.resize(columns);
  return line;
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

constexpr auto replace_invalid = ordered_json::error_handler_t::replace;

ordered_json number_or_null(std::uint64_t number) {
  return number == 0 ? ordered_json(nullptr) : ordered_json(number);
}

std::vector<std::string> redacted(std::vector<std::string> lines) {
  for (std::string& line : lines) line = index::redact_url(line);
  return lines;
}

/// A message or an error that can be shared: without the secrets of URLs in it.
std::string shown(std::string_view text) { return text::printable(index::redact_url(text)); }

/// " 12 kB of 3.4 MB (0 %)"; of several files, which have their number before it, ", 12 kB of 3.4
/// MB".
std::string render_amount(const Work& bytes) {
  const auto& [what, done, total, in_bytes] = bytes;
  if (done == 0 && total == 0) return {};
  const bool several = what.ends_with(" files");
  std::string amount = (several ? ", " : " ") + text::render_bytes(done);
  if (total == 0) return amount;
  amount += fmt::format(" of {}", text::render_bytes(total));
  if (!several) amount += fmt::format(" ({} %)", done >= total ? 100 : done * 100 / total);
  return amount;
}

}  // namespace

std::string render_json(const ordered_json& body) {
  return text::printable_json(body.dump(2, ' ', false, replace_invalid)) + "\n";
}

Progress choose_progress(std::string_view which, bool quiet) {
  if (which == "json") return Progress::events;
  if (which == "off" || (which != "on" && quiet)) return Progress::none;
  const bool terminal = session::variable("TERM") != "dumb" && ::isatty(STDERR_FILENO) == 1;
  return terminal ? Progress::line : Progress::none;
}

Output::~Output() { clear_progress(); }

void Output::clear_progress() {
  if (!progress_shown_) return;
  write(stderr, "\r\033[K");
  progress_shown_ = false;
  note_progress(false);
}

void Output::set_progress(Progress progress) {
  clear_progress();
  options_.progress = progress;
  say_interruption_as_event(progress == Progress::events);
}

void Output::set_options(OutputOptions options) {
  options.progress = options_.progress;
  options_ = options;
}

void Output::event(std::string_view name, const ordered_json& fields) {
  if (options_.progress != Progress::events || is_ending()) return;
  ordered_json out = {{"event", name}};
  out.update(fields);
  write(stderr, text::printable_json(out.dump(-1, ' ', false, replace_invalid)) + "\n");
}

void Output::add(Remark remark) {
  remarked_ = remarked_ || remark.severity != Severity::detail;
  if (options_.quiet || (remark.severity == Severity::detail && !options_.verbose)) return;
  clear_progress();
  const bool warning = remark.severity == Severity::warning;
  const std::string hint = remark.hint.empty() ? "" : complete_hint(remark.hint, run_);
  if (options_.progress == Progress::events) {
    const bool detail = remark.severity == Severity::detail;
    return event(
        warning  ? "warning"
        : detail ? "detail"
                 : "note",
        {{"message", index::redact_url(remark.message)}, {"hint", index::redact_url(hint)}});
  }
  std::string line = shown((warning ? "warning: " : "") + remark.message) + "\n";
  // What holds for many packages is said with the first.
  if (!hint.empty()) {
    std::string shown_hint = shown("  hint: " + hint) + "\n";
    if (said_hints_.insert(shown_hint).second) line += shown_hint;
  }
  write(stderr, line);
}

bool Output::is_due(std::uint64_t now, std::uint64_t& last) const {
  const std::uint64_t milliseconds_a_tick = options_.progress == Progress::events ? 100 : 50;
  if (now / milliseconds_a_tick == last) return false;
  last = now / milliseconds_a_tick;
  return true;
}

void Output::progress(const Work& work) {
  if (options_.progress == Progress::none || is_ending()) return;
  // The line for several downloads is not replaced by what is done beside them.
  if (options_.progress == Progress::line && downloads_.are_several() && downloads_.are_under_way())
    return;
  show_line(work);
}

void Output::download(const Download& download) {
  if (options_.progress == Progress::none || is_ending()) return;
  downloads_.note(download);
  const std::string file(download.file);
  if (options_.progress == Progress::line) {
    return downloads_.are_several()
               ? show_line({downloads_.name(), downloads_.bytes(), downloads_.total(), true})
               : show_line({"downloading " + file, download.bytes, download.total, true});
  }
  constexpr std::array<std::string_view, 4> names = {"download-begin", "download-progress",
                                                     "download-end", "download-failed"};
  const bool goes_on = download.stage == Download::Stage::goes_on;
  if (goes_on && !is_due(now_in_milliseconds(), event_ticks_[file])) return;
  event(names[static_cast<std::size_t>(download.stage)],
        {{"file", file}, {"bytes", download.bytes}, {"total", number_or_null(download.total)}});
}

void Output::show_line(const Work& work) {
  const auto& [what, done, total, in_bytes] = work;
  const std::uint64_t now = now_in_milliseconds();
  if (!is_due(now, progress_tick_)) return;
  if (options_.progress == Progress::events)
    return event("work", {{"what", what}, {"done", done}, {"total", number_or_null(total)}});
  std::string line = text::printable(what);
  if (!in_bytes && total != 0) line += fmt::format(" ({} of {})", done, total);
  if (in_bytes) line += render_amount(work) + pace_.note(what, done, total, now);
  note_progress(true);
  write(stderr, "\r\033[K" + cut_to(std::move(line), columns_of_stderr() - 1));
  progress_shown_ = true;
}

int Output::answer(const Answer& answer, int exit_code) {
  return write_answer(options_.json ? render_versioned(answer.json()) : for_terminal(answer.text()),
                      exit_code);
}

bool Output::answer_part(std::string_view text) {
  clear_progress();
  return write_whole(stdout, for_terminal(text)) == 0;
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
    remark_error({ErrorKind::io, changed_ ? "the change was made; only its report could not be "
                                            "written to stdout"
                                          : "the result could not be written to stdout"});
    return exit_code == 0 ? 1 : exit_code;
  }
  return exit_code;
}

void Output::remark_error(const Error& error, const std::vector<std::string>& lines) {
  say_error({.error = error, .lines = lines});
}

void Output::say_error(const session::CommandFailure& failure) {
  const auto& [error, exit_code, usage, lines] = failure;
  clear_progress();
  std::fflush(stdout);
  if (options_.progress == Progress::events) {
    ordered_json fields = error_json(failure);
    fields["lines"] = redacted(lines);
    return event("error", fields);
  }
  std::string text = shown("error: " + error.message) + "\n";
  for (const std::string& line : lines) text += shown("  " + line) + "\n";
  if (!error.hint.empty()) text += shown("  hint: " + complete_hint(error.hint, run_)) + "\n";
  write(stderr, text);
}

int Output::failure(const session::CommandFailure& failure, const Answer& known) {
  if (!options_.json) {
    const std::string text = known.text ? known.text() : std::string();
    if (!text.empty()) write_answer(for_terminal(text), failure.exit_code);
    say_error(failure);
    return failure.exit_code;
  }
  if (options_.progress == Progress::events) say_error(failure);
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
