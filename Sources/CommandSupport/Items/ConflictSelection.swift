package import Arguments
package import Keyring
internal import KeyringModel

/// The conflict copies that a command line selects: `keytree resolve`, and `keytree get --copy`.
package struct ConflictSelection {
  package static let option = OptionDeclaration(
    "copy", .required(ValueDeclaration("DIGITS", .text)),
    help: "the conflict copy of the item with these first digits, as `keytree resolve` shows them")

  private let call: CommandCall
  private let keyring: Keyring

  /// Creates a selection from the options of a command line.
  package init(call: CommandCall, keyring: Keyring) {
    self.call = call
    self.keyring = keyring
  }

  /// Returns the conflict copies of the selected item: versions of it, or of another item with the same path.
  ///
  /// - Throws: the errors of reading the conflict copies, or `usage` for operands that select nothing.
  package func copies(of selection: ItemSelection) throws -> [ConflictCopy] {
    // The index is not signed and could assign an item's id to another name.
    let lines = try call.find(selection, in: keyring.index).items
    let items = try keyring.verifiedRecords(of: lines).map(\.record).filter {
      selection.accepts($0) || selection.isLabel(of: $0)
    }
    let (ids, paths) = (Set(items.map(\.id)), Set(items.map(\.path)))
    return try all().filter { copy in
      // The item may no longer exist while its copies still have the name.
      ids.contains(copy.record.id) || paths.contains(copy.record.path) || selection.accepts(copy.record)
    }
  }

  /// Returns all conflict copies, or those that `--copy` names.
  package func all() throws -> [ConflictCopy] {
    let copies = try keyring.conflictCopies()
    guard let digits = call.arguments.text(Self.option) else { return copies }
    return copies.filter { $0.name.hasPrefix(digits) }
  }

  /// Returns the one conflict copy of the selected item.
  ///
  /// - Throws: `other` with `notFound` if no copy matches, and with `ambiguous` if several match.
  package func one(of selection: ItemSelection) throws -> ConflictCopy {
    let copies = try copies(of: selection)
    guard let copy = copies.first else { throw none }
    guard copies.count == 1 else {
      let names = copies.map(\.shortName).joined(separator: ", ")
      throw CommandError.other(
        .ambiguous,
        message: "\(call.nameForMessages(0)) has \(copies.count) conflict copies: \(names)",
        hint: "choose one of them with `--copy DIGITS`")
    }
    return copy
  }

  /// The failure of a command line that selects no conflict copy.
  package var none: CommandError {
    let digits = call.arguments.text(Self.option).map { " that begins with \(ErrorReport.quote($0))" } ?? ""
    return .other(
      .notFound, message: "\(call.nameForMessages(0)) has no conflict copy\(digits)",
      hint: "`keytree resolve` lists the conflicts")
  }
}

extension ConflictCopy {
  /// The digits that name the copy, taken from the name of its record file.
  package var name: String {
    files.last.flatMap { $0.split(separator: "/").last }.map { String($0.prefix { $0 != "." }) } ?? ""
  }

  /// The first digits of the name, which suffice on the command line.
  package var shortName: String { String(name.prefix(12)) }
}
