/// An operation that changes files on disk.
///
/// Every change that Keytree makes goes through `FileTree`, which consults the fault plan first. A test can thus make
/// the Nth operation fail, or all operations from the Nth on, as if the process had been killed.
package enum FileOperation: String, Sendable, CaseIterable {
  case makeDirectory, createFile, write, synchronize, rename, remove, removeDirectory, synchronizeDirectory
  case synchronizeAll, link
}

/// An error that a test injects into an operation.
package enum Fault: Sendable {
  /// The operation does nothing and reports this `errno`.
  case fail(Int32)
  /// A write stores this many bytes, then reports this `errno`. Other operations fail without any effect.
  case failAfter(bytes: Int, Int32)
}

/// A function that is called before each operation and returns the fault to inject, or `nil`. The path is for messages.
package typealias FaultPlan = @Sendable (_ operation: FileOperation, _ path: String) -> Fault?
