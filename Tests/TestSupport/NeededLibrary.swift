// A build without tests does not find Testing.
#if canImport(Testing)
  internal import Glibc
  package import Testing

  extension Trait where Self == ConditionTrait {
    /// Runs the tests only if libzxcvbn is installed, which estimates the strength of passwords. The build does not need
    /// it.
    package static var needsZxcvbn: Self {
      .enabled(if: isZxcvbnInstalled, "libzxcvbn.so.0 is not installed (Debian package libzxcvbn0)")
    }
  }

  private let isZxcvbnInstalled = unsafe dlopen("libzxcvbn.so.0", RTLD_NOW | RTLD_LOCAL) != nil
#endif
