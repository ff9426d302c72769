/// One operation that changes what is on disk.
///
/// Every change that Keytree makes goes through `FileTree`, which announces it here first. That is
/// the seam at which a test fails the Nth operation, or everything from the Nth on, as a kill does.
package enum FileOperation: String, Sendable, CaseIterable {
  case makeDirectory, createFile, write, synchronize, rename, remove, removeDirectory, synchronizeDirectory
  case synchronizeAll, link
}

/// What a test wants to happen instead of an operation.
package enum Fault: Sendable {
  /// Nothing is done and the operation reports this `errno`.
  case fail(Int32)
  /// A write stores this many bytes, then reports this `errno`; other operations just fail.
  case failAfter(bytes: Int, Int32)
}

/// Decides over each operation before it happens; `nil` lets it pass. The path is for messages.
package typealias FaultPlan = @Sendable (_ operation: FileOperation, _ path: String) -> Fault?
