#pragma once
// What a storage says when it refuses a request, in words: its answers are XML, and as hostile as
// any.

#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "index/http/transport.h"
#include "index/storage/storage_address.h"

namespace axle::index {

/// The text of the first element `name`, with XML's five entities decoded; empty: there is none.
[[nodiscard]] std::string xml_text(std::string_view xml, std::string_view name);

/// The code of an error: "NoSuchKey", "AccessDenied"; empty: it is none that a storage gives.
[[nodiscard]] std::string refusal_code(const HttpResponse& response);

/// `action`: "read", "write", "list"; `url`: of the object. Never contains the keys. Error: io.
[[nodiscard]] Error storage_refusal(std::string_view action, std::string_view url,
                                    const HttpResponse& response, const StorageAccess& access);

}  // namespace axle::index
