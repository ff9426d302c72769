internal import Encoding
internal import KeyringModel
internal import Secrets

/// The members of a JSON object, taken out one by one, so that what nobody asked for is known in the end.
struct MemberReader {
  private var members: [SecretJSON.Member]

  init(_ value: SecretJSON?) { members = value?.members ?? [] }

  /// Takes a member out; nil when there is none.
  mutating func take(_ name: String) -> SecretJSON? {
    guard let index = members.firstIndex(where: { $0.name == name }) else { return nil }
    return members.remove(at: index).value
  }

  /// Takes the text of a member out; a number or a truth value is text as well. What is neither stays.
  mutating func text(_ name: String) -> SecretSlice? {
    guard let index = members.firstIndex(where: { $0.name == name }),
      let text = members[index].value.plainText
    else { return nil }
    members.remove(at: index)
    return text
  }

  /// Takes the elements of an array out; what is no array stays.
  mutating func elements(_ name: String) -> [SecretJSON] {
    guard let index = members.firstIndex(where: { $0.name == name }),
      let elements = members[index].value.elements
    else { return [] }
    members.remove(at: index)
    return elements
  }

  /// Takes out what says nothing about an entry: numbers that a program gives things for itself.
  mutating func drop(_ names: String...) { members.removeAll { names.contains($0.name) } }

  /// Keeps what is left and says something.
  func keepRest(in entry: inout ImportedEntry) {
    for member in members where !member.value.isBlank {
      if let text = member.value.plainText {
        entry.field(member.name, text)
      } else {
        entry.field(member.name, SecretSlice(member.value.json), isSecret: true)
      }
    }
  }
}

extension ImportedEntry {
  /// Keeps a member as an attribute where it is a text, a number or `true`.
  mutating func set(_ name: AttributeName, _ value: SecretJSON?) {
    if let value, !value.isBlank { set(name, value.plainText) }
  }

  /// Keeps members for the secret, as lines of text, `name: value`; those that say nothing are left out.
  ///
  /// What has a line end would read as several facts, and is sealed by itself.
  mutating func keepLines(_ value: SecretJSON?) {
    var text = SecretBytes()
    for member in value?.members ?? [] where !member.value.isBlank {
      let isLine = !member.name.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == UInt8(ascii: ":") }
      if let plain = member.value.plainText,
        unsafe !isLine || plain.withBytes({ unsafe $0.contains(0x0A) || $0.contains(0x0D) })
      {
        seal(.column(member.name), plain)
        continue
      }
      text.append("\(member.name): ")
      if let plain = member.value.plainText { text.append(plain) } else { member.value.write(to: &text) }
      text.append("\n")
    }
    if !text.isEmpty { text.removeLast() }
    secret = SecretSlice(text)
  }
}
