#include "tests/support/http_message.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>
#include <libdeflate.h>
#include <sys/socket.h>

namespace axle::test {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::optional<SeenRequest> parse_request(std::string_view head) {
  SeenRequest request;
  bool first = true;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    if (first) {
      const std::size_t space = line.find(' ');
      const std::size_t second = line.rfind(' ');
      if (space == std::string_view::npos || second <= space) return std::nullopt;
      request.method = line.substr(0, space);
      request.target = line.substr(space + 1, second - space - 1);
      first = false;
    } else if (const std::size_t colon = line.find(": "); colon != std::string_view::npos) {
      request.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
    }
  }
  return request;
}

}  // namespace

std::optional<SeenRequest> Connection::receive() {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    char bytes[4096];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0 || buffer_.size() > 65536) return std::nullopt;
    buffer_.append(bytes, static_cast<std::size_t>(got));
  }
  const std::string head = buffer_.substr(0, end);
  buffer_.erase(0, end + 4);
  return parse_request(head);
}

bool Connection::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void Connection::wait_for_close() {
  char byte = 0;
  while (::recv(fd_, &byte, 1, 0) > 0) {
  }
}

std::string render_head(const Answer& answer) {
  std::string head = fmt::format("HTTP/1.1 {} Status\r\n", answer.status);
  for (const auto& [name, value] : answer.headers) head += fmt::format("{}: {}\r\n", name, value);
  if (!answer.headers.contains("Content-Length") && !answer.headers.contains("Transfer-Encoding") &&
      answer.status != 304) {
    head += fmt::format("Content-Length: {}\r\n", answer.body.size());
  }
  return head + "\r\n";
}

std::string gzip(std::string_view text) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(
      libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

}  // namespace axle::test
