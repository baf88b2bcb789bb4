#pragma once
// A package index on loopback for tests: serves a folder, well or badly. How it behaves is part of
// the URL, so that any client can be sent against any misbehaviour: "/-cut/simple/x/" is
// "/simple/x/", cut.
//
//   -gzip           compressed when the client takes it
//   -fresh          Cache-Control: max-age=600
//   -fresh-year     Cache-Control: max-age=31536000, immutable
//   -no-store       Cache-Control: no-store
//   -login          a login page, status 200
//   -auth           401 unless user:secret
//   -status-NNN     that status
//   -busy-once      429 with Retry-After: 0 the first time
//   -fail-twice     503 two times
//   -late           after 200 ms
//   -drip           a byte every 100 ms
//   -slow           in pieces with pauses
//   -stall          half the body, then silence
//   -hang           no answer at all
//   -cut            half the body, then closed
//   -cut-once       the same, the first time only
//   -wrong          one bit of the body flipped
//   -huge           a body without end
//   -bomb           8 MiB of zeros, compressed
//   -no-range       ranges ignored
//   -no-tail        "last N bytes" refused with 416
//   -whole-tail     "last N bytes" ignored, other ranges not
//   -bad-range      Content-Range one byte off
//   -short-range    a shorter part than Content-Range says
//   -redirect       302 to the rest of the path
//   -redirect-loop  302 to itself
//   -redirect-file  302 to a file URL
//   -redirect-host  302, the same by another name
//   -other-type     Content-Type text/plain
//
// Plain paths: files of the folder; a folder answers with its index.json or index.html by Accept.
// "/-/seen" lists the requests as JSON (method, target, range, whether credentials came along,
// bytes of the answer's body), "/-/forget" empties that list.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace axle::test {

struct SeenRequest {
  std::string method;
  std::string target;
  std::map<std::string, std::string, std::less<>> headers;  ///< names in lower case
  std::size_t body_bytes = 0;                               ///< of the answer
};

class IndexServer {
 public:
  /// Serves at once, on a free port of 127.0.0.1 only, until destroyed.
  explicit IndexServer(std::string folder);
  ~IndexServer();
  IndexServer(const IndexServer&) = delete;
  IndexServer& operator=(const IndexServer&) = delete;

  [[nodiscard]] unsigned port() const;
  /// "http://127.0.0.1:PORT" + `path`.
  [[nodiscard]] std::string url(std::string_view path) const;
  [[nodiscard]] std::vector<SeenRequest> seen() const;
  void forget();
  /// That were ever accepted.
  [[nodiscard]] std::size_t connections() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace axle::test
