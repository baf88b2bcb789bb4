#include "foundation/report/error.h"

namespace axle {

const char* render_kind(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::malformed:
      return "malformed";
    case ErrorKind::mismatch:
      return "mismatch";
    case ErrorKind::io:
      return "io";
    case ErrorKind::conflict:
      return "conflict";
  }
  return "io";
}

Error within(std::string where, Error error) {
  error.message = std::move(where) + ": " + error.message;
  return error;
}

}  // namespace axle
