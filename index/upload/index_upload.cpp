#include "index/upload/index_upload.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/base64.h"
#include "index/http/answer_words.h"
#include "index/http/redaction.h"
#include "index/upload/upload_form.h"
#include "wheel/zip/zip_reader.h"

namespace axle::index {
namespace {

constexpr std::uint64_t longest_answer = 256ULL << 10;
/// An index may read, hash and check what it was sent before it answers.
constexpr unsigned patience_seconds = 300;

/// The body of a request: three parts, of which the middle one is a file.
class FormBody {
 public:
  FormBody(UploadForm form, std::unique_ptr<wheel::ByteSource> file)
      : form_(std::move(form)), file_(std::move(file)) {}
  [[nodiscard]] std::uint64_t size() const {
    return form_.before.size() + file_->size() + form_.after.size();
  }
  [[nodiscard]] const std::string& content_type() const { return form_.content_type; }
  bool read(std::uint64_t offset, std::span<std::byte> part) {
    while (!part.empty()) {
      const std::uint64_t file_begin = form_.before.size();
      const std::uint64_t file_end = file_begin + file_->size();
      std::size_t got = 0;
      if (offset < file_begin) {
        got = take(form_.before, offset, part);
      } else if (offset < file_end) {
        got = std::min<std::uint64_t>(part.size(), file_end - offset);
        if (!file_->read(offset - file_begin, part.first(got))) return false;
      } else {
        got = take(form_.after, offset - file_end, part);
      }
      if (got == 0) return false;
      offset += got;
      part = part.subspan(got);
    }
    return true;
  }

 private:
  static std::size_t take(const std::string& text, std::uint64_t offset,
                          std::span<std::byte> part) {
    if (offset >= text.size()) return 0;
    const std::size_t size = std::min<std::uint64_t>(part.size(), text.size() - offset);
    std::memcpy(part.data(), text.data() + offset, size);
    return size;
  }

  UploadForm form_;
  std::unique_ptr<wheel::ByteSource> file_;
};

/// Indexes have no common word for it: those of the package index and devpi, GitLab, Nexus and
/// Artifactory.
bool says_existing(const HttpResponse& response) {
  if (response.status == 409) return true;
  if (response.status != 400 && response.status != 403) return false;
  const std::string words = text::ascii_lower(response.body);
  constexpr std::array<std::string_view, 4> phrases = {"already exist", "already been taken",
                                                       "updating asset", "overwrite artifact"};
  return std::ranges::any_of(
      phrases, [&](std::string_view phrase) { return words.find(phrase) != std::string::npos; });
}

std::string_view hint_for(const HttpResponse& response, bool has_login) {
  switch (response.status) {
    case 401:
    case 403:
      return has_login ? "check the login, and whether it may upload to this project"
                       : "give a login: --username with UV_PUBLISH_PASSWORD or TWINE_PASSWORD, a "
                         "token in UV_PUBLISH_TOKEN, or an entry in ~/.netrc";
    case 404:
    case 405:
      return "check --repository-url: the address that takes uploads is often another one than "
             "that "
             "of the index";
    case 301:
    case 302:
    case 307:
    case 308:
      return "give the address that it names with --repository-url";
    default:
      return "correct what it says, and run the command again";
  }
}

Error refusal(const ScannedWheel& wheel, const UploadTarget& target, const HttpResponse& response) {
  std::string words = answer_words(response);
  if (const auto to = response.said.find("location");
      to != response.said.end() && response.status >= 300 && response.status < 400)
    words = "it is at " + redact_url(to->second);
  return {ErrorKind::io,
          fmt::format("{} was not taken by {}: HTTP {}{}{}", wheel.filename, redact_url(target.url),
                      response.status, words.empty() ? "" : ": ", words),
          std::string(hint_for(response, !target.user.empty()))};
}

Result<bool> upload(const ScannedWheel& wheel, const UploadTarget& target, Transport& transport) {
  const auto fields = upload_fields(wheel);
  if (!fields) return std::unexpected(fields.error());
  auto file = wheel::open_file_source(wheel.path);
  if (!file) return std::unexpected(std::move(file.error()));
  if ((*file)->size() != wheel.size)
    return fail(ErrorKind::mismatch, wheel.path + " was changed meanwhile",
                "run the command again");
  const auto body = std::make_shared<FormBody>(render_upload(*fields, wheel), std::move(*file));
  auto call = std::make_shared<HttpCall>();
  call->method = "POST";
  call->patience_seconds = patience_seconds;
  call->has_body = true;
  call->body_size = body->size();
  call->read_body = [body](std::uint64_t offset, std::span<std::byte> part) {
    return body->read(offset, part);
  };
  call->headers = [type = body->content_type(), &target] {
    std::vector<std::string> lines = {"Content-Type: " + type, "Accept: text/plain, */*"};
    if (!target.user.empty() || !target.password.empty())
      lines.push_back("Authorization: Basic " +
                      text::encode_base64(target.user + ':' + target.password));
    return lines;
  };
  HttpRequest request;
  request.url = target.url;
  request.max_bytes = longest_answer;
  request.call = std::move(call);
  const auto response = transport.fetch(request);
  if (!response) return std::unexpected(response.error());
  if (response->status >= 200 && response->status < 300) return false;
  Error error = refusal(wheel, target, *response);
  if (says_existing(*response)) {
    if (target.skip_existing) return true;
    error.kind = ErrorKind::conflict;
    error.hint =
        "an index does not take a file name twice: raise the version or the build number; "
        "--skip-existing goes on with the others";
  }
  return std::unexpected(std::move(error));
}

}  // namespace

Result<std::vector<UploadedFile>> upload_wheels(const std::vector<ScannedWheel>& wheels,
                                                const UploadTarget& target, Transport& transport,
                                                Report& report) {
  std::vector<UploadedFile> uploaded;
  for (const ScannedWheel& wheel : wheels) {
    report.progress({"uploading", uploaded.size(), wheels.size()});
    const auto existed = upload(wheel, target, transport);
    if (!existed) {
      Error error = existed.error();
      if (!uploaded.empty()) {
        error.hint += fmt::format("; {} of {} files were uploaded before it, the last one {}",
                                  uploaded.size(), wheels.size(), uploaded.back().filename);
      }
      return std::unexpected(std::move(error));
    }
    uploaded.push_back({wheel.project, wheel.filename, *existed});
  }
  report.progress({"uploading", wheels.size(), wheels.size()});
  return uploaded;
}

}  // namespace axle::index
