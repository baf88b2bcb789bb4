#pragma once
// A vendor's library that may or may not be on the machine.

#include <cstddef>

namespace axle::runtime {

class SharedLibrary {
 public:
  SharedLibrary() = default;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;
  ~SharedLibrary();

  /// False: `problem` says why not.
  bool open(const char* name, char* problem, std::size_t size);

  /// A function, as the caller knows its type; null where the library has none.
  template <class Function>
  bool find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(find_address(name));
    return function != nullptr;
  }

 private:
  [[nodiscard]] void* find_address(const char* name) const;

  void* handle_ = nullptr;
};

}  // namespace axle::runtime
