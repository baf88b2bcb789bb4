#pragma once
// Values whose destructors are not worth their time.

#include <memory>
#include <utility>

namespace axle::system {

void hold_until_exit(std::shared_ptr<void> value);

/// Keeps `value` as long as the process: for what a command has built of ten thousands of pieces
/// and used last, which the system takes back at once. Nothing may be left to its destructor that
/// has to happen, and it holds no descriptor.
template <class Value>
void keep_until_exit(Value value) {
  hold_until_exit(std::make_shared<Value>(std::move(value)));
}

}  // namespace axle::system
