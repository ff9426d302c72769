package import KeyringModel
package import Secrets

/// A file of another program, and what the store gets from it.
package struct Adoption: Sendable {
  /// An item or field that the store gets.
  package struct Part: Sendable {
    /// The item to add; its attributes if it replaces another one.
    package let item: NewItem
    /// The existing item that gets the secret; nil for a new item.
    package let replaced: ItemRecord?
    /// The secret.
    package let secret: SecretSlice

    /// Creates a part.
    package init(_ item: NewItem, replacing replaced: ItemRecord? = nil, secret: SecretSlice) {
      (self.item, self.replaced, self.secret) = (item, replaced, secret)
    }
  }

  /// The content that is taken from the file.
  package enum Content: Sendable {
    /// The parts of a login, for a new file.
    case login([Part])
    /// The new secret of the item that the file changes.
    case secret(SecretSlice)
    /// The secret of the changed item, and fields that are added or replaced with it.
    case change(SecretSlice, fields: [Part])
  }

  /// The file.
  package let file: ForeignFile
  /// Its content.
  package let content: Content

  /// Creates an adoption.
  package init(_ file: ForeignFile, _ content: Content) { (self.file, self.content) = (file, content) }
}

/// The result of one adoption.
package enum AdoptionOutcome: Sendable, Equatable {
  /// The items were stored and the file is gone. The records of the login come first.
  case adopted([ItemRecord])
  /// An item of this name exists already. Nothing was changed.
  case exists(ItemReference)
  /// The file was changed or removed concurrently. Nothing was changed.
  case changedSince
}

/// The result of undoing one change.
package enum UndoOutcome: Sendable, Equatable {
  /// The file of the item was restored.
  case restored
  /// The file was moved to this path.
  case quarantined(String)
}

extension Keyring {
  /// Stores the content of files of other programs as items that this user signs, encrypted to the members of their
  /// groups, and removes the files. Everything is one transaction.
  ///
  /// - Parameter adoptions: The files and their decrypted contents.
  /// - Returns: The result for each adoption, in the same order.
  /// - Throws: The errors of `add` and `update`. After any error except a file error nothing was changed.
  package func adopt(_ adoptions: [Adoption]) throws(KeyringError) -> [AdoptionOutcome] {
    let count = adoptions.count
    return try transaction(subject: "adopt \(count == 1 ? "1 file" : "\(count) files")") {
      changes throws(KeyringError) in
      var outcomes: [AdoptionOutcome] = []
      for adoption in adoptions {
        guard let digest = adoption.file.digest, try message(of: adoption.file) != nil else {
          outcomes.append(.changedSince)
          continue
        }
        switch (adoption.file.kind, adoption.content) {
        case (.changed(let record), .secret(let secret)), (.kept(let record), .secret(let secret)):
          outcomes.append(try accept(record, adoption.file, digest, secret, [], &changes))
        case (.changed(let record), .change(let secret, let fields)),
          (.kept(let record), .change(let secret, let fields)):
          outcomes.append(try accept(record, adoption.file, digest, secret, fields, &changes))
        case (_, .login(let parts)): outcomes.append(try adopt(adoption.file.path, digest, parts, &changes))
        case (.added, .secret), (.added, .change): outcomes.append(.changedSince)
        }
      }
      return outcomes
    }
  }

  private func adopt(
    _ file: String, _ digest: ContentDigest, _ parts: [Adoption.Part], _ changes: inout WriteTransaction
  ) throws(KeyringError) -> AdoptionOutcome {
    let own = StoreLayout.itemPath(ofFile: file)
    for part in parts where part.replaced == nil {
      if try part.item.path() == own { continue }
      if let other = try changes.item(like: part.item) { return .exists(other.reference) }
    }
    try changes.takeIn(file, digest)
    return .adopted(try store(parts, &changes))
  }

  private func accept(
    _ record: ItemRecord, _ file: ForeignFile, _ digest: ContentDigest, _ secret: SecretSlice,
    _ fields: [Adoption.Part], _ changes: inout WriteTransaction
  ) throws(KeyringError) -> AdoptionOutcome {
    for field in fields where field.replaced == nil {
      if let other = try changes.item(like: field.item) { return .exists(other.reference) }
    }
    let accepted =
      file.replacesItemFile
      ? try changes.accept(digest, as: record, secret: secret.copy())
      : try changes.accept(digest, from: file.path, as: record, secret: secret.copy())
    guard let new = accepted else { return .changedSince }
    return .adopted([new] + (try store(fields, &changes)))
  }

  private func store(
    _ parts: [Adoption.Part], _ changes: inout WriteTransaction
  ) throws(KeyringError) -> [ItemRecord] {
    var records: [ItemRecord] = []
    for part in parts {
      if let replaced = part.replaced {
        let attributes = AttributeChanges(set: part.item.attributes)
        records.append(try changes.update(replaced, attributes, secret: part.secret.copy()))
      } else {
        records.append(try changes.add(part.item, secret: part.secret.copy()))
      }
    }
    return records
  }

  /// Undoes what other programs have done: restores the files of changed items, and moves all other files to a
  /// quarantine folder. Needs no secret key.
  ///
  /// - Parameters:
  ///   - undone: The files.
  ///   - originals: The files of the changed items by path, as their records describe them. An item whose file is
  ///     missing here or has another digest stays as it is.
  /// - Returns: The result for each file that was restored or moved, by path.
  /// - Throws: `KeyringError.policyNotTrusted`, `.busy`, `.unsafeFolder`, `.engine`, or a file error.
  package func undo(
    _ undone: [ForeignFile], originals: [String: [UInt8]]
  ) throws(KeyringError) -> [String: UndoOutcome] {
    try requireTrust()
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    var transaction = Transaction(in: tree)
    let quarantine = Quarantine.newFolder(at: host.clock())
    var done: [String: UndoOutcome] = [:]
    do {
      for file in undone {
        switch file.kind {
        case .added, .kept:
          // A file that is too large to read is moved, too.
          guard try Keyring.isThere(file.path, in: tree) else { continue }
          if file.digest != nil, try message(of: file) == nil { continue }
          transaction.move(file.path, to: "\(quarantine)/\(file.path)")
          done[file.path] = .quarantined("\(quarantine)/\(file.path)")
        case .changed(let record):
          guard let original = originals[file.path], ContentDigest(of: original) == record.sealed,
            try message(of: file) != nil, try verifiedRecords(of: [record]).first?.record == record
          else { continue }
          try transaction.place(original, at: file.path)
          done[file.path] = .restored
        }
      }
    } catch {
      transaction.abandon()
      throw error
    }
    let count = done.count
    try transaction.commit(
      under: lock, subject: "undo \(count == 1 ? "1 change" : "\(count) changes") by other programs")
    return done
  }

  /// Restores the files of items that other programs have changed, and keeps the changed files at second paths, where
  /// they can still be adopted. Needs no secret key.
  ///
  /// - Parameters:
  ///   - changed: The changed files.
  ///   - originals: As for ``undo(_:originals:)``.
  /// - Returns: The paths of the files that were restored.
  /// - Throws: The errors of ``undo(_:originals:)``.
  package func separate(
    _ changed: [ForeignFile], originals: [String: [UInt8]]
  ) throws(KeyringError) -> [String] {
    try requireTrust()
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    var transaction = Transaction(in: tree)
    var done: [String] = []
    do {
      for file in changed {
        guard case .changed(let record) = file.kind, let original = originals[file.path],
          ContentDigest(of: original) == record.sealed, let bytes = try message(of: file),
          try verifiedRecords(of: [record]).first?.record == record
        else { continue }
        try transaction.place(bytes, at: SecondPath.of(file.path, ContentDigest(of: bytes)))
        try transaction.place(original, at: file.path)
        done.append(file.path)
      }
    } catch {
      transaction.abandon()
      throw error
    }
    if done.isEmpty {
      transaction.abandon()
      return []
    }
    let count = done.count
    try transaction.commit(
      under: lock, subject: "restore \(count == 1 ? "1 file" : "\(count) files") that other programs changed")
    return done
  }
}
