internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OneTimePasswords
internal import Secrets
internal import Terminal

/// An item or a field whose secret is a one-time-password seed.
struct OneTimePasswordItem {
  private let call: CommandCall
  private let keyring: Keyring
  /// The item as it was found, or, after its counter has advanced, as it is now.
  private(set) var record: ItemRecord
  private let query: Query?
  /// True if base32 alone is accepted as a seed. Otherwise a password in base32 could be mistaken for one.
  private let isNamed: Bool

  /// Finds the seed that a command selects.
  ///
  /// - Parameter letsChoose: true if the user may choose among several items or similar names.
  /// - Throws: the errors of `record(_:in:letsChoose:)`.
  init(_ call: CommandCall, in keyring: Keyring, letsChoose: Bool) throws {
    (self.call, self.keyring) = (call, keyring)
    (record, query) = try Self.record(call, in: keyring.index, letsChoose: letsChoose)
    let given = try call.givenAttributes()
    let isNamed =
      switch try call.itemName(0) {
      case .named(let readings): readings.first?.hasTypedClass == true || given.itemClass != nil
      case .reference, .id: true
      case nil: given.itemClass != nil
      }
    self.isNamed = record.field == FieldName.oneTimePassword || isNamed
  }

  /// Uses the seed of a login: its field `otp`, or the login itself if it is such a field whose item no longer exists.
  ///
  /// - Throws: `noMatch` if the login has none; `KeyringError`.
  init(_ call: CommandCall, ofLogin login: ItemRecord, in keyring: Keyring) throws {
    (self.call, self.keyring, isNamed) = (call, keyring, true)
    if login.field == FieldName.oneTimePassword {
      var field = Query(predicates: [.path(login.path)])
      field.includesFields = true
      (record, query) = (login, field)
      return
    }
    guard let seed = try Self.seed(of: login, call, in: keyring.index) else {
      throw CommandError.noMatch("\(call.name(of: login)) --field \(FieldName.oneTimePassword)")
    }
    (record, query) = (seed, .fields(of: login))
  }

  /// Returns the record that an item's name selects here: its field `otp`, or the item itself if it has none.
  ///
  /// - Parameter letsChoose: true if the user may choose among several items or similar names.
  /// - Returns: the field or the item, and the query that it matches.
  /// - Throws: the errors of `CommandCall.findOne`.
  static func record(
    _ call: CommandCall, in index: Index, letsChoose: Bool
  ) throws -> (ItemRecord, Query?) {
    let selection = try call.selection(0)
    if selection.name?.isByIdentity != true {
      var given = selection.given
      given.field = FieldName.oneTimePassword
      let ofField = try call.selection(selection.name, of: given)
      let seeds = try call.find(ofField, in: index)
      call.explain(seeds.statistics)
      guard seeds.problems.isEmpty || !seeds.items.isEmpty else {
        throw CommandError.noMatchButDamage(call.nameForMessages(0))
      }
      let canChoose = letsChoose && ItemChooser(call).canAsk
      if let seed = try call.one(of: seeds.items, letsChoose: canChoose) {
        return (seed, ofField.query(for: seed))
      }
    }
    let item = try call.findOne(selection, in: index, letsChoose: letsChoose)
    guard let seed = try seed(of: item, call, in: index) else {
      return (item, selection.query(forChosen: item))
    }
    return (seed, .fields(of: item))
  }

  /// Returns the field `otp` of a login; nil if it has none.
  private static func seed(of login: ItemRecord, _ call: CommandCall, in index: Index) throws -> ItemRecord? {
    try call.login(of: login, in: index).fields.first { $0.field == FieldName.oneTimePassword }
  }

  /// The name of the item for messages, escaped.
  var name: String { call.name(of: record) }

  /// Decrypts the item and reads its seed. Its counter is the largest one of the item and its conflict copies.
  ///
  /// - Throws: `KeyringError`; `other` if it is not a seed.
  func seed() throws -> Seed {
    let secret = try secret()
    let seed = try seed(in: secret)
    guard case .counter(let own) = seed.factor else { return seed }
    let counter = try unusedCounter(of: seed, own)
    guard counter > own, let text = seed.advanced(secret, past: counter - 1) else { return seed }
    return try self.seed(in: text)
  }

  /// A one-time password.
  struct Code: ~Copyable {
    /// The digits.
    let digits: SecretBytes
    /// The remaining validity in seconds, for time-based codes.
    let seconds: Int64?
    /// The counter from which it was computed, for counter-based codes.
    let counter: UInt64?

    /// Delivers the code. A counter-based code has changed the store, even if the delivery fails; the change is committed
    /// after it, so that the code is not lost if git fails.
    ///
    /// - Parameters:
    ///   - call: the command.
    ///   - delivery: shows, copies or types the code.
    /// - Throws: the error of the delivery; otherwise that of the commit.
    borrowing func deliver(_ call: CommandCall, by delivery: (borrowing Code) throws -> Void) throws {
      do {
        try delivery(self)
      } catch {
        // Report the error of the delivery. The next command commits the pending change if this fails.
        if counter != nil { try? call.commitPending() }
        throw error
      }
      guard counter != nil else { return }
      // Print the code before git runs.
      call.console.flush()
      try call.commitPending()
    }
  }

  /// Returns the code for a time. A counter-based code is returned only once: the next counter is on the disk before
  /// the code is returned. The code is computed before that, so that an error does not consume a counter.
  ///
  /// - Throws: `KeyringError`; `other` if there is no seed, its counter is used up, or no code can be computed.
  mutating func code(at time: Timestamp) throws -> Code {
    while true {
      let secret = try secret()
      let seed = try seed(in: secret)
      switch seed.factor {
      case .time(let period):
        let (seconds, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let turn = Turn(time: rest < 0 ? seconds - 1 : seconds, period: period)
        return Code(digits: try digits(of: seed, turn.counter), seconds: turn.seconds, counter: nil)
      case .counter(let own):
        let counter = try unusedCounter(of: seed, own)
        guard let next = seed.advanced(secret, past: counter) else {
          throw CommandError.other(
            .failure, message: "cannot generate a code for \(name): its counter is used up",
            hint: "request a new seed from the service that asks for the code")
        }
        try call.requireWritable(keyring, group: record.group)
        let digits = try digits(of: seed, counter)
        if let changed = try replace(next) {
          record = changed
          return Code(digits: digits, seconds: nil, counter: counter)
        }
        // Another process was faster and has used that code.
        record = try again()
      }
    }
  }

  /// Returns the largest counter of the item and of its conflict copies with the same key, and warns that they exist.
  ///
  /// Two machines that have used the seed before they were synchronized have different counters, and a merge cannot
  /// compare them, because it decrypts nothing. With the smaller one, a code would be shown again.
  ///
  /// - Parameters:
  ///   - seed: The seed of the item.
  ///   - own: Its counter.
  /// - Throws: `KeyringError` if the conflict copies cannot be listed.
  private func unusedCounter(of seed: borrowing Seed, _ own: UInt64) throws -> UInt64 {
    var (counter, count) = (own, 0)
    for copy in try keyring.conflictCopies(of: record) {
      let secret: SecretBytes
      do {
        secret = try keyring.secret(of: copy)
      } catch {
        let reason = ErrorReport(error).message ?? "it failed"
        call.console.complain(
          "keytree: warning: a conflict copy of \(name) cannot be read, and may have a larger counter: \(reason)"
        )
        continue
      }
      // A copy whose secret is not a seed has no counter.
      guard let other = try? Seed(secret), case .counter(let used) = other.factor, seed.hasKey(of: other)
      else { continue }
      (counter, count) = (max(counter, used), count + 1)
    }
    if count > 0 {
      call.console.complain(
        "keytree: warning: \(name) has \(count == 1 ? "a conflict copy" : "\(count) conflict copies") of the seed; "
          + "the largest counter is used")
      call.console.complain("hint: `keytree resolve` lists the conflicts")
    }
    return counter
  }

  private func secret() throws -> SecretBytes {
    try keyring.secret(for: record, matching: query)
  }

  private func seed(in secret: borrowing SecretBytes) throws -> Seed {
    let seed: Seed
    do {
      seed = try Seed(secret)
    } catch {
      switch error {
      // The secret is a password, not a damaged seed.
      case .empty, .tooLong, .notText, .base32: if !isNamed { throw noSeed }
      default: break
      }
      throw CommandError(error, of: name)
    }
    guard seed.isURI || isNamed else { throw noSeed }
    return seed
  }

  private var noSeed: CommandError {
    .other(
      .notFound, message: "\(name) has no field `otp`, and its secret is not an `otpauth://` URI",
      hint:
        "`keytree otp add ITEM` stores a seed in the field `otp`; a reference or a class selects the item itself"
    )
  }

  private func digits(of seed: borrowing Seed, _ counter: UInt64) throws -> SecretBytes {
    do throws(CodeError) {
      return try seed.code(counter: counter)
    } catch {
      throw CommandError(error, of: name)
    }
  }

  private func replace(_ secret: borrowing SecretBytes) throws -> ItemRecord? {
    try keyring.replaceSecret(of: record, with: secret)
  }

  /// Returns the current record of the item.
  private func again() throws -> ItemRecord {
    let query = Query(predicates: [.id(record.id)], limit: .one)
    guard let found = try keyring.index.find(query).items.first else {
      throw KeyringError.itemNotFound
    }
    return found
  }
}
