package import Encoding
package import KeyringModel
package import Terminal

// The presentation of a policy for people and programs.

extension Policy {
  /// Adds the people, the groups with their members, and the allowed files to a list of facts.
  ///
  /// - Parameter me: the key of this user.
  package func addFacts(to list: inout FactList, me: Fingerprint?) {
    for (fingerprint, person) in people.sorted(by: { $0.key < $1.key }) {
      list.add("person", person.line(fingerprint, isMe: fingerprint == me))
    }
    for (name, members) in groups.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      list.add("group", "\(name): \(members.map { self.name(of: $0) }.joined(separator: ", "))")
    }
    for file in files.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      list.add("file", file)
    }
  }

  /// Returns the name of a person, shortened, or the fingerprint if the policy does not list the person.
  package func name(of fingerprint: Fingerprint) -> String {
    people[fingerprint]?.shownName ?? fingerprint.text
  }

  /// The people, for programs.
  package var peopleJSON: JSONValue {
    .array(
      people.sorted { $0.key < $1.key }.map { fingerprint, person in
        var members = [
          JSONMember("fingerprint", .string(fingerprint.text)), JSONMember("name", .string(person.name)),
          JSONMember("role", .string(person.role.rawValue)),
        ]
        members.append(JSONMember("encryptTo", .array(person.encryptTo.map { .string($0.text) })))
        if let removed = person.removed { members.append(JSONMember("removed", .string(removed.rfc3339))) }
        if let new = person.replacedBy { members.append(JSONMember("replacedBy", .string(new.text))) }
        if person.isCompromised { members.append(JSONMember("compromised", .bool(true))) }
        return .object(members)
      })
  }

  /// The allowed files, for programs.
  package var filesJSON: JSONValue {
    .array(files.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { .string($0) })
  }

  /// The groups, for programs.
  package var groupsJSON: JSONValue {
    .object(groups.map { JSONMember($0.key, .array($0.value.map { .string($0.text) })) })
  }
}

extension Person {
  /// The most columns of a name in a message. A user id can have 2,000 characters.
  private static let nameColumns = 100

  /// The name for messages. The middle of a long one is left out, so that the mail address at its end is shown.
  package var shownName: String { Self.shownName(name) }

  /// Returns a user id for messages, as ``shownName``.
  package static func shownName(_ userID: String) -> String {
    DisplayWidth.cutMiddle(userID, to: nameColumns)
  }

  /// Returns the fingerprint, name and role in one line.
  package func line(_ fingerprint: Fingerprint, isMe: Bool = false) -> String {
    let end =
      (removed.map { ", removed \($0.day)" } ?? "") + (replacedBy.map { ", replaced by \($0.text)" } ?? "")
      + (isCompromised ? ", compromised" : "")
    return "\(fingerprint.text)  \(shownName) (\(role.rawValue)\(isMe ? ", you" : "")\(end))"
  }
}
