#pragma once
// Which properties count as supported.

#include <functional>
#include <map>
#include <string>

#include "providers/provider.h"

namespace axle::resolver {

/// Supported features by namespace, best first.
using SupportedProperties = std::map<std::string, providers::Features, std::less<>>;

}  // namespace axle::resolver
