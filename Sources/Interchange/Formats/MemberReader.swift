internal import Encoding
internal import KeyringModel
internal import Secrets

/// The members of a JSON object. They are removed one by one, so that the members without a known use remain.
struct MemberReader {
  private var members: [SecretJSON.Member]

  init(_ value: SecretJSON?) { members = value?.members ?? [] }

  /// Removes a member and returns it, or nil if there is none.
  mutating func take(_ name: String) -> SecretJSON? {
    guard let index = members.firstIndex(where: { $0.name == name }) else { return nil }
    return members.remove(at: index).value
  }

  /// Removes a member and returns its text. A number or a Boolean counts as text. A member of another type stays.
  mutating func text(_ name: String) -> SecretSlice? {
    guard let index = members.firstIndex(where: { $0.name == name }),
      let text = members[index].value.plainText
    else { return nil }
    members.remove(at: index)
    return text
  }

  /// Removes an array and returns its elements. A member of another type stays.
  mutating func elements(_ name: String) -> [SecretJSON] {
    guard let index = members.firstIndex(where: { $0.name == name }),
      let elements = members[index].value.elements
    else { return [] }
    members.remove(at: index)
    return elements
  }

  /// Removes the first member that is an object, and returns its name and value.
  ///
  /// - Parameter names: the members to leave out.
  mutating func takeObject(except names: Set<String>) -> (name: String, value: SecretJSON)? {
    let isOther = { (member: SecretJSON.Member) in
      member.value.members != nil && !names.contains(member.name)
    }
    guard let index = members.firstIndex(where: isOther) else { return nil }
    let member = members.remove(at: index)
    return (member.name, member.value)
  }

  /// Removes members that contain no information about an entry, such as ids that a program assigns.
  mutating func drop(_ names: String...) { members.removeAll { names.contains($0.name) } }

  /// Stores the remaining members that are not empty.
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
  /// Stores a member as an attribute if it is a text, a number or `true`.
  mutating func set(_ name: AttributeName, _ value: SecretJSON?) {
    if let value, !value.isBlank { set(name, value.plainText) }
  }

  /// Stores members as the secret, in lines `name: value`; empty ones are left out.
  ///
  /// A value with a line end would look like several members, and becomes a separate field.
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
