internal import KeyringModel

/// Decides where each item file belongs, from what the files say about themselves.
struct RepairPlan {
  /// What can be said about one file.
  enum Look {
    /// A line describes exactly this file.
    case inOrder(ItemRecord)
    /// The file was decrypted and says that it is this item; `isNew` when no line says just that.
    case says(ItemRecord, [UInt8], isNew: Bool)
    /// It cannot be read now; a line for it, if there is one, stays.
    case unreadable(ItemRecord?)
    /// It is nothing that this keyring wrote, or an older version of an item that is elsewhere, and no line knows it.
    case foreign
  }

  /// An item file on its way to the place it names itself.
  struct Move {
    let from: String
    let to: String
    let message: [UInt8]
  }

  /// What is to be done.
  struct Outcome {
    var records: [ItemRecord] = []
    var moved: [Move] = []
    var quarantined: [String] = []
    var rebuilt: [ItemReference] = []
  }

  private let files: [StoreSurvey.ItemFile]
  private let look: (StoreSurvey.ItemFile) throws(KeyringError) -> Look

  init(
    _ files: [StoreSurvey.ItemFile],
    look: @escaping (StoreSurvey.ItemFile) throws(KeyringError) -> Look
  ) {
    self.files = files
    self.look = look
  }

  /// Looks at every file and settles who gets which place: a file that is where it says it belongs comes
  /// before one that is elsewhere, then the newer secret before the older one.
  func callAsFunction(_ progress: (Int, Int) -> Void) throws(KeyringError) -> Outcome {
    var outcome = Outcome()
    var takenFiles: Set<String> = []
    var takenIDs: [ItemID: Int] = [:]
    var misplaced: [(file: String, record: ItemRecord, message: [UInt8])] = []
    for (number, item) in files.enumerated() {
      progress(number, files.count)
      switch try look(item) {
      case .inOrder(let record):
        takenFiles.insert(item.file)
        takenIDs[record.id] = outcome.records.count
        outcome.records.append(record)
      case .unreadable(let record):
        takenFiles.insert(item.file)
        if let record { outcome.records.append(record) }
      case .foreign:
        outcome.quarantined.append(item.file)
      case .says(let record, let message, let isNew):
        guard StoreLayout.itemFile(record.path, isLocal: item.isLocal) == item.file else {
          misplaced.append((item.file, record, message))
          continue
        }
        takenFiles.insert(item.file)
        takenIDs[record.id] = outcome.records.count
        outcome.records.append(record)
        if isNew { outcome.rebuilt.append(record.reference) }
      }
    }
    misplaced.sort { $0.record.secretModified > $1.record.secretModified }
    for (file, record, message) in misplaced {
      let target = StoreLayout.itemFile(record.path, isLocal: record.isLocal)
      if takenFiles.contains(target) || takenIDs[record.id] != nil {
        outcome.quarantined.append(file)
        continue
      }
      takenFiles.insert(target)
      takenIDs[record.id] = outcome.records.count
      outcome.records.append(record)
      outcome.moved.append(Move(from: file, to: target, message: message))
      outcome.rebuilt.append(record.reference)
    }
    progress(files.count, files.count)
    return outcome
  }
}
