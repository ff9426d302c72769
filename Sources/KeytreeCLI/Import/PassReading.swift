internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// Decrypts the items of a password store, on several threads.
final class PassReading: Sendable {
  private let tree: PassTree
  private let reader: ForeignReader

  /// Opens a password store.
  ///
  /// - Throws: `other` when it cannot be opened or is no password store; `keyring` when GnuPG cannot be used.
  init(path: String, host: HostContext) throws {
    do {
      tree = try PassTree(path: path)
    } catch {
      throw CommandError(error, folder: path)
    }
    // Any folder can be walked through, and a home folder holds many files that are none of this.
    guard tree.isPasswordStore() else {
      throw CommandError.other(
        .failure,
        message: "cannot import \(ErrorReport.show(path)): it is no password store, it has no .gpg-id",
        hint: "name the top folder of the store, `~/.password-store` for one")
    }
    reader = try ForeignReader(host: host)
  }

  /// What GnuPG has done for it so far.
  var statistics: EngineStatistics { reader.statistics }

  /// Everything that is in it.
  ///
  /// - Parameters:
  ///   - path: the store, for messages.
  ///   - console: where the progress is shown.
  /// - Throws: `other` when a folder cannot be read; `keyring` for what concerns all items: a prompt that was
  ///   cancelled, an agent that cannot be reached. What concerns one item is a loss in the draft.
  func draft(path: String, console: Console) throws -> ImportDraft {
    let listing: PassListing
    do {
      listing = try tree.scan()
    } catch {
      throw CommandError(error, folder: path)
    }
    let progress = WorkProgress("decrypt", total: listing.entries.count, console: console)
    defer { progress.finish() }
    let parts: [Part] = try reader.map(listing.entries.count, isUnlocked: \.isDecrypted) {
      number -> Part in
      defer { progress.step() }
      return try self.read(listing.entries[number])
    }
    var draft = listing.draft
    for part in parts { draft.append(part.draft) }
    return draft
  }

  private struct Part: Sendable {
    let draft: ImportDraft
    let isDecrypted: Bool
  }

  private func read(_ entry: PassEntry) throws -> Part {
    let message: [UInt8]
    do {
      message = ArmoredMessage.binary(try tree.ciphertext(of: entry))
    } catch {
      return Part(draft: PassImport.unreadable(entry, reason: error.words), isDecrypted: false)
    }
    do {
      let plaintext = try reader.open(message, limit: PassTree.fileLimit)
      return Part(draft: PassImport.plan(entry, plaintext: plaintext), isDecrypted: true)
    } catch {
      guard case .engine(let problem, _) = error, let words = problem.wordsForOneFile else { throw error }
      return Part(draft: PassImport.unreadable(entry, reason: words), isDecrypted: false)
    }
  }
}
