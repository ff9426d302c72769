internal import CommandSupport
internal import Encoding
internal import Interchange
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Terminal

/// A reader of the items of a password store.
final class PassReading: Sendable {
  private let tree: PassTree
  /// The path of the store, for messages.
  private let path: String

  /// Opens a password store.
  ///
  /// - Throws: `other` if it cannot be opened or is not a password store.
  init(path: String) throws {
    self.path = path
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
  }

  private func scan() throws -> PassListing {
    do {
      return try tree.scan()
    } catch {
      throw CommandError(error, folder: path)
    }
  }

  // MARK: - Names

  /// Reads the names of the whole store and the recipients of its files. Nothing is decrypted.
  ///
  /// - Parameters:
  ///   - items: the items of the group of the import.
  ///   - keys: the user's own keys.
  /// - Throws: `other` if a folder cannot be read. An error of one file is a loss in the draft.
  func forecast(besides items: [ItemRecord], _ keys: OwnKeys) throws -> ImportDraft {
    let listing = try scan()
    var forecast = PassForecast(listing, besides: items)
    for entry in listing.entries {
      if let reason = obstacle(entry, keys) {
        forecast.add(entry, unreadable: reason)
      } else {
        forecast.add(entry)
      }
    }
    return forecast.draft
  }

  /// Returns the reason why the user cannot decrypt an entry, as far as its file shows it.
  private func obstacle(_ entry: PassEntry, _ keys: OwnKeys) -> String? {
    do throws(PassTreeError) {
      let message = try message(entry)
      do throws(EngineError) {
        try keys.requireRecipient(of: message, limit: PassTree.fileLimit)
        return nil
      } catch {
        return error.wordsForOneFile
      }
    } catch {
      return error.message
    }
  }

  private func message(_ entry: PassEntry) throws(PassTreeError) -> [UInt8] {
    Armor.binary(try tree.ciphertext(of: entry), .message)
  }

  // MARK: - Contents

  /// Reads and decrypts the whole store, on several threads.
  ///
  /// - Parameters:
  ///   - reader: the user's keys.
  ///   - console: the console for the progress bar.
  /// - Throws: `other` if a folder cannot be read; `KeyringError` for an error that concerns all items: a cancelled
  ///   prompt, an unreachable agent. An error of one item is a loss in the draft.
  func draft(_ reader: MessageDecryptor, console: Console) throws -> ImportDraft {
    let listing = try scan()
    let progress = WorkProgress("decrypt", total: listing.entries.count, console: console)
    defer { progress.finish() }
    let parts: [Part] = try reader.map(listing.entries.count, isUnlocked: \.isDecrypted) {
      number -> Part in
      defer { progress.step() }
      return try self.read(listing.entries[number], reader)
    }
    var draft = listing.draft
    for part in parts { draft.append(part.draft) }
    return draft
  }

  private struct Part: Sendable {
    let draft: ImportDraft
    let isDecrypted: Bool
  }

  private func read(_ entry: PassEntry, _ reader: MessageDecryptor) throws -> Part {
    let message: [UInt8]
    do {
      message = try self.message(entry)
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
