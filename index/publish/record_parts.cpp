#include "index/publish/record_parts.h"

#include <array>
#include <cerrno>
#include <functional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"
#include "index/http/url.h"
#include "index/pages/page.h"
#include "index/publish/copied_file.h"
#include "index/publish/published_index.h"
#include "wheel/requirement.h"
#include "wheel/version.h"
#include "wheel/wheel_name.h"

namespace axle::index {
namespace {

constexpr std::size_t longest_record = 1U << 20;
constexpr std::string_view variants_end = "-variants.json";
/// Files without a link are beside the page; the host does not exist.
constexpr std::string_view page_url = "https://records.invalid/simple/";

constexpr const char* form_hint =
    "a record is one line of JSON, as in `files` of a project page (PEP 691): {\"filename\": …, "
    "\"url\": …, \"hashes\": {\"sha256\": …}, \"size\": …}";

std::unexpected<Error> refuse(std::string_view where, std::string_view why) {
  return fail(ErrorKind::malformed, fmt::format("{}: {}", where, why), form_hint);
}

/// Empty: neither a wheel nor a variants file.
std::string project_of(const std::string& filename) {
  if (filename.ends_with(".whl")) {
    const auto name = wheel::parse_wheel_name(filename);
    return name ? wheel::normalize_name(name->distribution) : std::string();
  }
  if (!filename.ends_with(variants_end)) return {};
  const std::string_view stem =
      std::string_view(filename).substr(0, filename.size() - variants_end.size());
  const std::size_t dash = stem.find('-');
  if (dash == std::string_view::npos || !wheel::is_valid_name(stem.substr(0, dash))) return {};
  const auto version = wheel::parse_version(stem.substr(dash + 1));
  // Installers ask for the name that the version has, and for no other spelling.
  if (!version || wheel::variants_file_name(stem.substr(0, dash), *version) != filename) return {};
  return wheel::normalize_name(stem.substr(0, dash));
}

std::FILE* open_part(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (file < 0) return std::tmpfile();
  std::FILE* opened = ::fdopen(file, "w+");
  if (opened == nullptr) ::close(file);
  return opened;
}

/// Its lines, with their numbers; an error of `take` ends it.
Result<void> for_each_line(
    std::FILE* file, const std::string& name,
    const std::function<Result<void>(std::string_view, std::uint64_t)>& take) {
  std::array<char, 1U << 16> buffer{};
  std::string line;
  std::uint64_t number = 0;
  for (;;) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file);
    if (got == 0) break;
    std::string_view rest(buffer.data(), got);
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      line += rest.substr(0, end);
      if (line.size() > longest_record)
        return refuse(fmt::format("{}, line {}", name, number + 1), "is longer than 1 MiB");
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
      if (Result<void> done = take(line, ++number); !done) return done;
      line.clear();
    }
  }
  if (std::ferror(file) != 0) return system_failure("read", name, errno);
  return line.empty() ? Result<void>() : take(line, number + 1);
}

}  // namespace

Result<ParsedRecord> parse_record(std::string_view line, std::string_view where) {
  std::string page = fmt::format("{{\"meta\":{{\"api-version\":\"1.1\"}},\"files\":[{}]}}", line);
  CollectedReport report;
  const auto parsed = parse_json_page(std::move(page), page_url, report);
  if (!parsed) return refuse(where, "is not a record of a file in JSON");
  if (!report.remarks.empty()) {
    // Of the page that the record was put into nothing need be said.
    std::string message = report.remarks.front().message;
    const std::string prefix = std::string(page_url) + ": ";
    if (message.starts_with(prefix)) message.erase(0, prefix.size());
    return refuse(where, message);
  }
  if (parsed->files.size() != 1) return refuse(where, "is not one record");
  const PublishedFile& file = parsed->files.front();
  ParsedRecord record{project_of(file.filename), listed_file(file, page_url)};
  if (record.project.empty())
    return refuse(where, file.filename +
                             " is the name neither of a wheel nor of a variants file "
                             "(NAME-VERSION-variants.json, as wheels spell both)");
  if (file.hash.sha256().empty()) return refuse(where, file.filename + " has no sha256");
  if (record.file.url.starts_with(page_url.substr(0, page_url.find("/simple"))))
    return refuse(where, "the url of " + file.filename + " is neither absolute nor its own name");
  if (const std::string named = url_file_name(file.url); named != file.filename) {
    return refuse(where, fmt::format("the url of {} ends in another name, {}, which installers "
                                     "would read",
                                     file.filename, text::quote(named)));
  }
  if (!file.size) return refuse(where, file.filename + " has no size");
  if (file.has_metadata && file.metadata_sha256.empty())
    return refuse(where, "the core-metadata of " + file.filename + " has no sha256");
  return record;
}

Result<RecordParts> RecordParts::divide(const std::string& file, const std::string& folder) {
  RecordParts parts;
  parts.file_ = file == "-" ? "standard input" : file;
  for (std::size_t i = 0; i < count; ++i) {
    parts.parts_.emplace_back(open_part(folder));
    if (parts.parts_.back() == nullptr) return system_failure("create a file in", folder, errno);
  }
  const Part opened(file == "-" ? nullptr : std::fopen(file.c_str(), "re"));
  if (file != "-" && opened == nullptr) return system_failure("open", file, errno);
  const auto done = for_each_line(
      opened != nullptr ? opened.get() : stdin, parts.file_,
      [&](std::string_view line, std::uint64_t number) { return parts.add(line, number); });
  if (!done) return std::unexpected(done.error());
  for (const Part& part : parts.parts_) {
    if (std::fflush(part.get()) != 0) return system_failure("write to", folder, errno);
  }
  return parts;
}

Result<void> RecordParts::add(std::string_view line, std::uint64_t number) {
  if (text::trim_ascii(line).empty()) return {};
  // What the parts have is parsed, so that an error is told before anything is written.
  const auto record = parse_record(line, fmt::format("{}, line {}", file_, number));
  if (!record) return std::unexpected(record.error());
  std::FILE* part = parts_[std::hash<std::string>()(record->project) % count].get();
  const bool written = std::fwrite(line.data(), 1, line.size(), part) == line.size() &&
                       std::fputc('\n', part) != EOF;
  if (!written) return system_failure("write", "a temporary file", errno);
  return {};
}

Result<ProjectRecords> RecordParts::read(std::size_t part) const {
  ProjectRecords records;
  std::FILE* file = parts_[part].get();
  if (std::fseek(file, 0, SEEK_SET) != 0) return system_failure("read", "a temporary file", errno);
  const auto done =
      for_each_line(file, file_, [&](std::string_view line, std::uint64_t) -> Result<void> {
        auto record = parse_record(line, file_);
        if (!record) return std::unexpected(std::move(record.error()));
        records[record->project].push_back(std::move(record->file));
        return {};
      });
  if (!done) return std::unexpected(done.error());
  return records;
}

}  // namespace axle::index
