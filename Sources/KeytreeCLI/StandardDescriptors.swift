internal import Glibc

/// Standard input, output and error, as the program finds them.
enum StandardDescriptors {
  /// Puts `/dev/null` in the place of those that are closed; otherwise a file of the store would get such a
  /// number, and be read or written as if it were a standard stream.
  ///
  /// Standard input then reads as empty. Standard output is open for reading only, so that a write to it fails as
  /// it would have: data must not get lost without a word.
  ///
  /// - Returns: false when one of them could not be filled, and nothing must be opened.
  static func fill() -> Bool {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      // The lowest number that is free is what is opened: the ones below are in use by now. They are
      // inherited by other programs, as standard streams are.
      let flags = descriptor == 1 ? O_RDONLY : O_RDWR
      guard unsafe open("/dev/null", flags) == descriptor else { return false }
    }
    return true
  }
}
