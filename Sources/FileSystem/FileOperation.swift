/// An operation that changes files on disk.
///
/// Every change that Keytree makes goes through `FileTree`, which consults the fault plan first. This lets a test fail
/// the Nth operation, or all operations from the Nth on, as after a kill.
package enum FileOperation: String, Sendable, CaseIterable {
  case makeDirectory, createFile, write, synchronize, rename, remove, removeDirectory, synchronizeDirectory
  case synchronizeAll, link
}

/// A failure that a test injects instead of an operation.
package enum Fault: Sendable {
  /// The operation does nothing and reports this `errno`.
  case fail(Int32)
  /// A write stores this many bytes, then reports this `errno`. Other operations fail without any effect.
  case failAfter(bytes: Int, Int32)
}

/// A function that is called before each operation and returns the fault to inject, or `nil`. The path is for messages.
package typealias FaultPlan = @Sendable (_ operation: FileOperation, _ path: String) -> Fault?
