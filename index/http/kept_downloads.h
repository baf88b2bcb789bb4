#pragma once
// Files that had to be downloaded whole for their metadata, until they are downloaded for good: in
// unnamed files, so that nothing is left of them when the command ends, however it does.

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "foundation/report/error.h"
#include "index/http/transport.h"

namespace axle::index {

class KeptDownloads {
 public:
  KeptDownloads() = default;
  KeptDownloads(const KeptDownloads&) = delete;
  KeptDownloads& operator=(const KeptDownloads&) = delete;
  ~KeptDownloads();

  /// `file` is duplicated. Of too many the oldest is let go.
  void keep(const std::string& url, const HttpResponse& response, int file);
  /// Gives the file to `sink`, as `Transport::download` does, and lets it go; nullopt: it is not
  /// here.
  [[nodiscard]] std::optional<Result<HttpResponse>> hand_over(const HttpRequest& request,
                                                              const BodySink& sink);

 private:
  struct Kept {
    std::string url;
    HttpResponse response;
    int file = -1;
  };

  std::mutex lock_;
  std::deque<Kept> kept_;  ///< the oldest first
};

}  // namespace axle::index
