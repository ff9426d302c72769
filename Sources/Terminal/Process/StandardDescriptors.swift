internal import Glibc

/// The standard input, output and error of the process.
package enum StandardDescriptors {
  /// Opens `/dev/null` for the standard streams that are closed. Otherwise a file of the store could get such a
  /// descriptor and be used as a standard stream.
  ///
  /// Standard input then reads as empty. Standard output is opened for reading only, so that a write to it still fails:
  /// data must not be lost silently.
  ///
  /// - Returns: false if a descriptor could not be filled. Then no other file may be opened.
  package static func fill() -> Bool {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      // `open` returns the lowest free number, and all lower ones are in use now. Child processes inherit these
      // descriptors, like any standard stream.
      let flags = descriptor == 1 ? O_RDONLY : O_RDWR
      guard unsafe open("/dev/null", flags) == descriptor else { return false }
    }
    return true
  }
}
