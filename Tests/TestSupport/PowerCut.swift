package import Keyring
import Synchronization

/// Records the operations of a change to a folder, and builds the states that a power cut may leave on the disk.
///
/// What is not flushed may be lost or kept in any order; Linux's usual file systems guarantee more.
package final class PowerCut: Sendable {
  private struct Recording {
    var reading = FolderReading()
    var disk = DiskModel(order: .any)
    var pending: (FileOperation, String)?
    var count = 0
  }

  private let folder: String
  private let samples: @Sendable (Int) -> Bool
  private let ignored: @Sendable (FileOperation, String) -> Bool
  private let state = Mutex(Recording())

  /// - Parameters:
  ///   - folder: The folder, whose content counts as flushed.
  ///   - samples: Returns true for the numbers of operations after which the power is cut. It is also cut at the end.
  ///   - ignored: Returns true for a flush that has no effect, so that a test can show what it would miss.
  package init(
    of folder: String, samples: @escaping @Sendable (Int) -> Bool = { _ in true },
    ignoring ignored: @escaping @Sendable (FileOperation, String) -> Bool = { _, _ in false }
  ) {
    (self.folder, self.samples, self.ignored) = (folder, samples, ignored)
    state.withLock { state in
      read(into: &state)
      state.disk.flushAll()
    }
  }

  /// The plan for the store. It injects nothing.
  package var plan: FaultPlan {
    { operation, path in
      self.state.withLock { state in
        self.complete(&state, isDone: false)
        state.pending = (operation, path)
      }
      return nil
    }
  }

  /// Ends the recording.
  ///
  /// - Parameter isDone: True if the change was reported as done.
  /// - Returns: The number of operations, and all states.
  package func finish(isDone: Bool = true) -> (operations: Int, disks: [DiskState]) {
    state.withLock { state in
      complete(&state, isDone: isDone)
      return (state.count, state.disk.states)
    }
  }

  /// Replaces the folder with a state.
  package func restore(_ disk: DiskState) throws { try disk.restore(at: folder) }

  /// Notes the effect of the operation that was announced last.
  private func complete(_ state: inout Recording, isDone: Bool) {
    read(into: &state)
    if let (operation, path) = state.pending {
      state.count += 1
      if !ignored(operation, path) { flush(operation, path, &state.disk) }
    }
    guard isDone || samples(state.count) else { return }
    let last = state.pending.map { "\($0.0.rawValue) \($0.1)" } ?? "nothing"
    state.disk.addStates(after: state.count, last, isDone: isDone)
  }

  private func read(into state: inout Recording) {
    state.reading.read(folder)
    state.disk.set(state.reading.paths, contents: state.reading.contents)
  }

  private func flush(_ operation: FileOperation, _ path: String, _ disk: inout DiskModel) {
    switch operation {
    case .synchronizeAll: disk.flushAll()
    case .synchronize:
      if let number = disk.paths[path] { disk.flush(number) }
    case .synchronizeDirectory:
      let number = path.isEmpty ? DiskModel.root : disk.paths[path]
      if let number, disk.contents[number] == nil {
        disk.flush(number)
      } else {
        // A new lock file flushes its folder and the root.
        let parent = path.split(separator: "/").dropLast().joined(separator: "/")
        disk.flush(disk.paths[parent] ?? DiskModel.root)
        disk.flush(DiskModel.root)
      }
    case .makeDirectory, .createFile, .write, .rename, .remove, .removeDirectory, .link: break
    }
  }
}
