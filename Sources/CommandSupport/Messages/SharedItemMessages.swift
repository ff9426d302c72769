internal import Arguments
internal import Encoding
internal import Keyring
internal import KeyringModel

/// The messages about secrets that are neither stored nor removed for a program that names no group.
extension ErrorReport {
  /// Creates the report for a conflict.
  ///
  /// - Parameter items: The items that are in the way, the first of which the message names.
  init(_ conflict: SharedItemConflict, _ items: [ItemReference]) {
    let name = items.first?.spokenName ?? ""
    switch conflict {
    case .severalGroups:
      let last = items.last?.text ?? "ITEM"
      self.init(
        .ambiguous, "\(items.count) items match the request of a program that names no group",
        hint:
          "keep one item: `keytree rm \(last)` removes the last one, and `keytree mv \(last) NAME` renames it",
        details: items.map { "  " + $0.spokenName })
    case .otherGroup(let group):
      self.init(
        .alreadyExists,
        "the secret was not stored: \(name) is in group \(Self.quote(group)), and a new item would have other "
          + "readers",
        hint: "`keytree set \(name) --secret` replaces its secret in its group")
    case .similar(let itemClass, let attributes, let group):
      let words = Self.addition(itemClass, attributes, group) ?? "keytree add ITEM -g \(group.shellWord)"
      self.init(
        .alreadyExists,
        "the secret was not stored: \(name) may be for the same account, and not all members of group "
          + "\(Self.quote(group)) can read it",
        hint:
          "`keytree set \(name) --secret` replaces its secret, if you are in its group; `\(words)` adds another item, which the members of group "
          + "\(Self.quote(group)) can read", details: items.dropFirst().map { "  " + $0.spokenName })
    case .removed(let itemClass, let attributes, let group, let old):
      let words = [old, group].map {
        Self.addition(itemClass, attributes, $0, updates: true)
          ?? "keytree add ITEM --update -g \($0.shellWord)"
      }
      self.init(
        .alreadyExists,
        "the secret was not stored: \(name) was in group \(Self.quote(old)) until it was removed on another machine, "
          + "and not all members of group \(Self.quote(group)) could read it",
        hint:
          "`\(words[0])` stores it for group \(Self.quote(old)); `\(words[1])` stores it for group "
          + Self.quote(group), details: items.dropFirst().map { "  " + $0.spokenName })
    case .plantedBy(let person, let signer):
      self.init(
        .alreadyExists,
        "the secret was not stored: \(Self.quote(Person.shownName(signer))) (\(person.text)) has changed \(name) last, and cannot read "
          + "new items",
        hint: "`keytree set \(name) --secret` replaces its secret; `keytree who \(name)` shows its readers")
    case .storedElsewhere(let readers):
      self.init(
        .alreadyExists,
        "the secret was not stored: \(readers == 1 ? "1 reader" : "\(readers) readers") of \(name) cannot read new items, "
          + "and its present secret was not stored from this machine",
        hint: "`keytree set \(name) --secret` replaces its secret; `keytree who \(name)` shows its readers")
    case .removal(let group):
      self.init(
        .failure, "\(name) was not removed: other members of group \(Self.quote(group)) use it, too",
        hint:
          "`keytree set \(name) --secret` replaces its secret; `keytree rm \(name)` removes it for all members"
      )
    case .newReaders(let group):
      self.init(
        .failure,
        "\(name) was not removed: the program would store a new secret in group \(Self.quote(group)), which others can "
          + "read",
        hint: "`keytree set \(name) --secret` replaces its secret; `keytree rm \(name)` removes it")
    }
  }

  /// Returns the command that adds an item with some attributes; nil if a command line cannot represent them.
  private static func addition(
    _ itemClass: ItemClass, _ attributes: Attributes, _ group: String, updates: Bool = false
  ) -> String? {
    var words = ["keytree", "add"]
    if updates { words.append("--update") }
    if itemClass == .genericPassword, attributes[.service] == nil { words.append("--class=generic") }
    for entry in attributes.entries {
      let text: String
      switch entry.value {
      case .string(let value)
      where !value.unicodeScalars.contains { $0.properties.generalCategory == .control }:
        text = value
      case .integer(let value): text = String(value)
      case .string, .bytes, .boolean, .date: return nil
      }
      if text.isEmpty { continue }
      let known = AttributeOptions.plain.first { $0.name == entry.name }
      words.append(
        known.map { "--\($0.option.name)=\(text.shellWord)" }
          ?? "--attribute=" + "\(entry.name.text)=\(text)".shellWord)
    }
    return (words + ["--group=" + group.shellWord]).joined(separator: " ")
  }
}
