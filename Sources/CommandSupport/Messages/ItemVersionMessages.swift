package import Encoding
package import KeyringModel
internal import Sync

extension ItemVersion {
  /// The changes, for people; not escaped.
  package var message: String {
    changes.map { change in
      guard case .renamed(let path) = change else { return change.message }
      // The name is shorter than the path. Two items can have the same name and differ in the protocol, for example.
      guard let before = previous?.record.shortName, before != record?.shortName else {
        return "renamed from \(ItemReference.path(path).spokenName)"
      }
      return "renamed from \(String(decoding: before, as: UTF8.self))"
    }.joined(separator: "; ")
  }

  /// The version for programs.
  package var members: [JSONMember] {
    var members = [
      JSONMember("author", .string(commit.author)),
      JSONMember("change", .array(changes.map { .string($0.name) })),
      JSONMember("commit", .string(commit.name)), JSONMember("mail", .string(commit.mail)),
      JSONMember("time", .string(commit.time.rfc3339)),
    ]
    if let record = lastRecord {
      members += [
        JSONMember("id", .string(record.id.hex)), JSONMember("reference", .string(record.reference.text)),
        JSONMember("revision", .string(record.revision.hex)),
      ]
    }
    for change in changes {
      switch change {
      case .attributes(let names):
        members.append(JSONMember("attributes", .array(names.map { .string($0.text) })))
      case .renamed(let path):
        members.append(JSONMember("from", .string(ItemReference.path(path).text)))
      case .moved(let group): members.append(JSONMember("fromGroup", .string(group)))
      case .added, .alreadyThere, .deleted, .broughtBack, .secret, .resealed: continue
      }
    }
    return members
  }
}

extension ItemReference {
  /// The name in a sentence, for messages about an item whose record is not at hand: container and account if the path
  /// has them as they were given, else the reference.
  package var spokenName: String {
    guard case .path(let path) = self, !text.utf8.contains(where: { "~+_".utf8.contains($0) }) else {
      return text
    }
    let name = "\(path.container)/\(path.name)"
    return path.field.map { "\(name) --field \($0)" } ?? name
  }
}

extension ItemVersion.Change {
  /// The kind of the change, for programs.
  fileprivate var name: String {
    switch self {
    case .added: "added"
    case .alreadyThere: "alreadyThere"
    case .deleted: "deleted"
    case .broughtBack: "broughtBack"
    case .secret: "secret"
    case .resealed: "resealed"
    case .attributes: "attributes"
    case .renamed: "renamed"
    case .moved: "moved"
    }
  }

  fileprivate var message: String {
    switch self {
    case .added: "added"
    case .alreadyThere: "already existed; this clone has no older history"
    case .deleted: "deleted"
    case .broughtBack: "restored"
    case .secret: "new secret"
    case .resealed: "same secret, re-encrypted"
    case .attributes(let names): "changed \(names.map(\.text).joined(separator: ", "))"
    case .renamed(let path): "renamed from \(ItemReference.path(path).spokenName)"
    case .moved(let group): "moved from the group \(group)"
    }
  }
}
