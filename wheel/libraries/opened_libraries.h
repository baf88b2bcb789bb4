#pragma once
// Libraries that are opened on first use: linking them would cost every start of the program, also
// of commands that hash and inflate nothing. OpenSSL's libcrypto takes 0.7 ms (a hundred pages of
// relocations), ISA-L 0.1 ms.

#include <stdexcept>
#include <string_view>

namespace axle::wheel {

/// The library that the headers belong to is not installed, or not that one.
class LibraryUnavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class OpenedLibrary : unsigned char { libcrypto, isal, zstd };

/// A function that the program has linked in: the one program (cmake/release/) carries all
/// libraries and modules, the others none. Null: it does not.
[[nodiscard]] void* carried_function(std::string_view name);

/// Throws LibraryUnavailable.
[[nodiscard]] void* library_function(OpenedLibrary library, const char* name);

/// Sets `function` to the library's of that name.
template <class Function>
void find_in_libcrypto(const char* name, Function& function) {
  function = reinterpret_cast<Function>(library_function(OpenedLibrary::libcrypto, name));
}

template <class Function>
void find_in_isal(const char* name, Function& function) {
  function = reinterpret_cast<Function>(library_function(OpenedLibrary::isal, name));
}

template <class Function>
void find_in_zstd(const char* name, Function& function) {
  function = reinterpret_cast<Function>(library_function(OpenedLibrary::zstd, name));
}

}  // namespace axle::wheel
