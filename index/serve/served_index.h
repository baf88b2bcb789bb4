#pragma once
// A static index in a folder as a server answers for it. Nothing outside the folder is opened, and
// no link is followed.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/system/descriptor.h"

namespace axle::index {

struct ServedRequest {
  std::string_view method;
  std::string_view path;  ///< as it was sent, without the query
  std::string_view accept = {};
  std::string_view range = {};
  std::string_view if_range = {};
  std::string_view if_none_match = {};
};

struct ServedAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;         ///< if there is no file
  system::Descriptor file;  ///< this part of it is the body
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

class ServedIndex {
 public:
  /// `folder`: absolute, has "simple". Error: not_found, io.
  [[nodiscard]] static Result<ServedIndex> open(const std::string& folder);
  /// May be called by several threads. To HEAD as to GET: whoever sends it leaves out the body.
  [[nodiscard]] ServedAnswer answer(const ServedRequest& request) const;

 private:
  /// index.html, or what pages for people share.
  [[nodiscard]] ServedAnswer answer_shown(const ServedRequest& request,
                                          const std::vector<std::string>& path) const;
  [[nodiscard]] ServedAnswer answer_page(const ServedRequest& request,
                                         const std::vector<std::string>& folder) const;
  [[nodiscard]] ServedAnswer answer_file(const ServedRequest& request,
                                         const std::vector<std::string>& path,
                                         std::string_view type, bool changes) const;

  std::string folder_;  ///< opened anew for each request: another one may take its place
};

}  // namespace axle::index
