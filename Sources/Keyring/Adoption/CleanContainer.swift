internal import FileSystem
internal import KeyringModel

/// A container in which every file is that of an item, with the stamps of its folders and encrypted files.
///
/// Its stored form can be compared with the files without creating any other value.
struct CleanContainer {
  private struct File {
    let name: [UInt8]
    let stamp: FileStamp
    let digest: ContentDigest
  }

  private struct Folder {
    /// The name in the container; empty for the container itself.
    let name: [UInt8]
    let stamp: FileStamp
    var files: [File] = []
  }

  /// The class and the name: `internet-password/github.com`.
  private let path: String
  private var folders: [Folder] = []
  /// True if no file or folder has changed so recently that another change could have the same stamp.
  private(set) var isSettled = true

  /// The digest of each encrypted file, and the path of its item.
  var digests: [(path: ItemPath, digest: ContentDigest)] {
    folders.flatMap { folder in
      folder.files.compactMap { file in
        let item = file.name.dropLast(StoreLayout.secretExtension.utf8.count)
        let names = folder.name.isEmpty ? [path] : [path, String(decoding: folder.name, as: UTF8.self)]
        let text = names.joined(separator: "/") + "/" + String(decoding: item, as: UTF8.self)
        return ItemPath(validating: text).map { ($0, file.digest) }
      }
    }
  }

  /// Looks at all files of a container. Encrypted files are read, unless their stamps are known.
  ///
  /// - Parameters:
  ///   - name: The name of the container, with a NUL at its end.
  ///   - itemClass: The class of its items.
  ///   - classFolder: The folder of the class.
  ///   - clock: The clock that the stamps are compared with.
  ///   - known: The digests that are known by stamp.
  /// - Returns: Nil if there is anything but the records and encrypted files of items, or an encrypted file without a
  ///   record: another program may have created it.
  /// - Throws: A file error.
  init?(
    _ name: [UInt8], of itemClass: ItemClass, in classFolder: borrowing FolderHandle, clock: FileClock,
    known: KnownDigests
  ) throws(FileError) {
    path = "\(itemClass.rawValue)/\(String(decoding: name.dropLast(), as: UTF8.self))"
    guard path.utf8.count <= UInt8.max, let folder = classFolder.folder(name[...]) else { return nil }
    guard try add(folder, named: [], clock, known) else { return nil }
  }

  private mutating func add(
    _ folder: borrowing FolderHandle, named name: [UInt8], _ clock: FileClock, _ known: KnownDigests
  ) throws(FileError) -> Bool {
    // The order matters: any change after the time was read gets a later stamp, and any change after the stamp was
    // read gives the folder another stamp.
    let now = clock.now()
    var found = Folder(name: name, stamp: try stamp(folder.stamp(), now, clock))
    let names = try folder.nameBytes()
    var records: Set<[UInt8]> = []
    var subfolders: [[UInt8]] = []
    var buffer: [UInt8] = []
    for name in names {
      let text = String(decoding: name, as: UTF8.self)
      guard let status = try folder.status(text), status.kind == .directory || status.links == 1 else {
        return false
      }
      let item = Self.item(text, in: path(of: found.name))
      switch status.kind {
      case .regular where item != nil && text.hasSuffix(StoreLayout.recordExtension):
        records.insert(name.dropLast(StoreLayout.recordExtension.utf8.count))
      case .regular where item != nil:
        let before = stamp(status.stamp, now, clock)
        var digest = known[before]
        if digest == nil {
          let read = try folder.read(text, into: &buffer, limit: StoreLayout.sealedItemLimit)
          guard read?.stamp.rounded(to: clock.tick) == before else { return false }
          digest = ContentDigest(of: buffer)
        }
        if let digest { found.files.append(File(name: name, stamp: before, digest: digest)) }
      case .directory where found.name.isEmpty && ItemPath(validating: "\(path)/\(text)") != nil:
        subfolders.append(name)
      default: return false
      }
    }
    let isRecorded = found.files.allSatisfy { file in
      records.contains(file.name.dropLast(StoreLayout.secretExtension.utf8.count))
    }
    guard isRecorded else { return false }
    folders.append(found)
    for name in subfolders {
      guard let child = folder.folder((name + [0])[...]), try add(child, named: name, clock, known) else {
        return false
      }
    }
    return true
  }

  private mutating func stamp(_ stamp: FileStamp, _ now: Int64, _ clock: FileClock) -> FileStamp {
    let stamp = stamp.rounded(to: clock.tick)
    if stamp.isFresh(at: now) { isSettled = false }
    return stamp
  }

  private func path(of folder: [UInt8]) -> String {
    folder.isEmpty ? path : "\(path)/\(String(decoding: folder, as: UTF8.self))"
  }

  private static func item(_ name: String, in folder: String) -> ItemPath? {
    StoreLayout.itemPath(ofFile: "\(StoreLayout.items)/\(folder)/\(name)")
  }
}

/// The digests of files whose stamps have not changed since they were read.
struct KnownDigests: Sendable {
  private let digests: [[UInt8]: ContentDigest]

  /// Creates an empty list.
  init() { digests = [:] }

  init(_ files: [(stamp: FileStamp, digest: ContentDigest)]) {
    digests = Dictionary(files.map { ($0.stamp.stored, $0.digest) }) { first, _ in first }
  }

  subscript(stamp: FileStamp) -> ContentDigest? { digests.isEmpty ? nil : digests[stamp.stored] }
}

// MARK: - The stored form

extension CleanContainer {
  /// The stored form: the size of the rest (4 bytes), the path, the number of folders, and for each folder its name,
  /// its stamp, the number of files, and for each file its name, its stamp and its digest. A text has its size in one
  /// byte before it and a NUL behind it.
  var stored: [UInt8] {
    var bytes: [UInt8] = []
    StoredCursor.append(Array(path.utf8), to: &bytes)
    StoredCursor.append(UInt32(folders.count), to: &bytes)
    for folder in folders {
      StoredCursor.append(folder.name, to: &bytes)
      bytes += folder.stamp.stored
      StoredCursor.append(UInt32(folder.files.count), to: &bytes)
      for file in folder.files {
        StoredCursor.append(file.name, to: &bytes)
        bytes += file.stamp.stored + file.digest.bytes
      }
    }
    var size: [UInt8] = []
    StoredCursor.append(UInt32(bytes.count), to: &size)
    return size + bytes
  }

  /// Returns true if no folder and no encrypted file of a stored container has changed.
  ///
  /// - Parameters:
  ///   - cursor: The place of the stored container, behind its path.
  ///   - name: The name of the container, with a NUL at its end.
  ///   - classFolder: The folder of the class.
  ///   - clock: The clock that the stamps were compared with.
  static func isUnchanged(
    _ cursor: StoredCursor, _ name: ArraySlice<UInt8>, in classFolder: borrowing FolderHandle,
    clock: FileClock
  ) -> Bool {
    guard let container = classFolder.folder(name) else { return false }
    var cursor = cursor
    guard let count = cursor.number() else { return false }
    for _ in 0..<count {
      guard let name = cursor.text() else { return false }
      // The text of the container itself is only its NUL.
      if name.count == 1 {
        guard isUnchanged(&cursor, in: container, clock) else { return false }
      } else {
        guard let folder = container.folder(name), isUnchanged(&cursor, in: folder, clock) else {
          return false
        }
      }
    }
    return true
  }

  private static func isUnchanged(
    _ cursor: inout StoredCursor, in folder: borrowing FolderHandle, _ clock: FileClock
  ) -> Bool {
    guard let stamp = cursor.stamp(), let now = try? folder.stamp(), now.rounded(to: clock.tick) == stamp,
      let count = cursor.number()
    else { return false }
    for _ in 0..<count {
      guard let name = cursor.text(), let stamp = cursor.stamp(), cursor.digest() != nil,
        folder.stamp(of: name)?.rounded(to: clock.tick) == stamp
      else { return false }
    }
    return true
  }

  /// Returns the stamps and digests of the files of a stored container, by the paths of their items below the
  /// container; nil if the bytes are damaged.
  ///
  /// - Parameter cursor: The place of the stored container, behind its path.
  static func files(
    _ cursor: StoredCursor
  ) -> [(name: String, stamp: FileStamp, digest: ContentDigest)]? {
    var cursor = cursor
    var files: [(name: String, stamp: FileStamp, digest: ContentDigest)] = []
    guard let folders = cursor.number() else { return nil }
    for _ in 0..<folders {
      guard let folder = cursor.text(), cursor.stamp() != nil, let count = cursor.number() else { return nil }
      for _ in 0..<count {
        guard let name = cursor.text(), let stamp = cursor.stamp(), let digest = cursor.digest() else {
          return nil
        }
        let text = String(decoding: name.dropLast(), as: UTF8.self)
        let place = folder.count == 1 ? "" : String(decoding: folder.dropLast(), as: UTF8.self) + "/"
        files.append((place + text, stamp, digest))
      }
    }
    return files
  }
}
