internal import CommandSupport
internal import Encoding
internal import Interchange
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Terminal

/// A reader that decrypts the items of a password store on several threads.
final class PassReading: Sendable {
  private let tree: PassTree
  private let reader: MessageDecryptor

  /// Opens a password store.
  ///
  /// - Throws: `other` if it cannot be opened or is not a password store; `KeyringError` if GnuPG cannot be used.
  init(path: String, host: HostContext) throws {
    do {
      tree = try PassTree(path: path)
    } catch {
      throw CommandError(error, folder: path)
    }
    // Any folder can be read, and a home folder contains many files that do not belong to a password store.
    guard tree.isPasswordStore() else {
      throw CommandError.other(
        .failure,
        message: "cannot import \(path): it is not a pass store, because it has no .gpg-id",
        hint: "give the top folder of the store, for example `~/.password-store`")
    }
    reader = try MessageDecryptor(host: host)
  }

  /// The work that GnuPG has done so far.
  var statistics: EngineStatistics { reader.statistics }

  /// Reads and decrypts the whole store.
  ///
  /// - Parameters:
  ///   - path: the path of the store, for messages.
  ///   - console: the console for the progress bar.
  /// - Throws: `other` if a folder cannot be read; `KeyringError` for an error that concerns all items: a cancelled
  ///   prompt, an unreachable agent. An error of one item is a loss in the draft.
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
      message = Armor.binary(try tree.ciphertext(of: entry), .message)
    } catch {
      return Part(draft: PassImport.unreadable(entry, reason: error.message), isDecrypted: false)
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
