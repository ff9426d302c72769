internal import Encoding
internal import FileSystem
internal import Glibc
internal import KeyringModel

/// The state of the service that belongs to this machine: the aliases and labels that clients have set, and the schemas
/// whose items never leave this machine.
struct LocalState: Equatable {
  /// The schemas whose items are stored on this machine only. A `*` at the end stands for any text.
  static let defaultLocalSchemas = [
    "chrome_libsecret_os_crypt_password*", "_chrome_dummy_schema*",
    "org.freedesktop.NetworkManager.Connection", "org.gnome.OnlineAccounts",
  ]
  /// The alias of the collection that programs use if they ask for no other.
  static let mainAlias = "default"
  /// The largest number of aliases that clients can set.
  static let maximumAliases = 64
  /// The largest size of an alias in bytes.
  static let maximumAliasSize = 64
  /// The largest file that is read, in bytes.
  private static let sizeLimit = 1 << 20

  /// An alias that a client has set or removed.
  struct Alias: Equatable {
    let name: String
    /// The collection; nil if the alias was removed.
    var collection: CollectionID?
  }

  /// The aliases that clients have set or removed.
  private(set) var aliases: [Alias] = []
  /// The labels that clients have set.
  var labels: [CollectionID: String] = [:]
  /// The schemas whose items are stored on this machine only.
  var localSchemas = LocalState.defaultLocalSchemas

  /// Creates the state of a keyring for which clients have set nothing.
  init() {}

  /// Returns the collection of an alias; nil if there is none.
  func collection(of alias: String) -> CollectionID? {
    if let set = aliases.first(where: { $0.name.hasSameBytes(as: alias) }) { return set.collection }
    return switch alias {
    case "default", "login": .group(GroupName.default)
    case "session": .session
    default: nil
    }
  }

  /// Sets or removes an alias.
  ///
  /// - Returns: False if there are too many aliases.
  mutating func set(_ alias: String, to collection: CollectionID?) -> Bool {
    if let place = aliases.firstIndex(where: { $0.name.hasSameBytes(as: alias) }) {
      if collection == nil, LocalState().collection(of: alias) == nil {
        // Only an alias that exists by itself needs an entry that says that it is gone.
        aliases.remove(at: place)
      } else {
        aliases[place].collection = collection
      }
      return true
    }
    guard aliases.count < Self.maximumAliases else { return false }
    aliases.append(Alias(name: alias, collection: collection))
    return true
  }

  /// Returns true if items of a schema are stored on this machine only.
  func isLocal(schema: String) -> Bool {
    localSchemas.contains { pattern in
      pattern.hasSuffix("*")
        ? schema.utf8.starts(with: pattern.utf8.dropLast()) : schema.hasSameBytes(as: pattern)
    }
  }
}

// MARK: The file

extension LocalState {
  /// The errors of a state file.
  enum Failure: Error, Equatable {
    /// The file is not one that this version writes.
    case damaged
  }

  /// Reads the state of a keyring. A missing file is an empty state.
  ///
  /// - Parameter folder: The folder for the state of the keyring.
  /// - Throws: `Failure.damaged`, or a file error.
  init(in folder: String) throws {
    self.init()
    let tree: FileTree
    do {
      tree = try FileTree(at: folder)
    } catch {
      if error.isMissing { return }
      throw error
    }
    guard let bytes = try tree.read(Self.file, limit: Self.sizeLimit) else { return }
    self = try LocalState(parsing: bytes)
  }

  /// Replaces the file.
  ///
  /// - Parameter folder: The folder for the state of the keyring, which exists.
  /// - Throws: A file error.
  func write(in folder: String) throws {
    let tree = try FileTree(at: folder)
    try tree.replaceFile(Self.file, with: encode(), temporary: ".secret-service.new")
    try tree.synchronizeDirectory("")
  }

  private static let file = "secret-service.json"

  init(parsing bytes: [UInt8]) throws {
    self.init()
    guard let value = try? JSONValue(parsing: bytes, limits: JSONLimits(size: Self.sizeLimit, depth: 4)),
      case .object(let members) = value
    else { throw Failure.damaged }
    for member in members {
      switch (member.name, member.value) {
      case ("format", .integer(1)): continue
      case ("aliases", .object(let entries)):
        for entry in entries {
          switch entry.value {
          case .null: aliases.append(Alias(name: entry.name, collection: nil))
          case .string(let name):
            guard let collection = CollectionID(pathName: name) else { throw Failure.damaged }
            aliases.append(Alias(name: entry.name, collection: collection))
          default: throw Failure.damaged
          }
        }
      case ("labels", .object(let entries)):
        for entry in entries {
          guard let collection = CollectionID(pathName: entry.name), case .string(let label) = entry.value
          else {
            throw Failure.damaged
          }
          labels[collection] = label
        }
      case ("localSchemas", .array(let values)):
        localSchemas = try values.map { value in
          guard case .string(let text) = value else { throw Failure.damaged }
          return text
        }
      default: throw Failure.damaged
      }
    }
  }

  /// Writes the state as canonical JSON with a line feed.
  func encode() -> [UInt8] {
    var members = [
      JSONMember("format", .integer(1)),
      JSONMember(
        "aliases",
        .object(
          aliases.map { JSONMember($0.name, $0.collection.map { .string($0.pathName) } ?? .null) })),
      JSONMember("labels", .object(labels.map { JSONMember($0.key.pathName, .string($0.value)) })),
    ]
    if localSchemas != Self.defaultLocalSchemas {
      members.append(JSONMember("localSchemas", .array(localSchemas.map { .string($0) })))
    }
    return JSONValue.object(members).canonicalBytes + [UInt8(ascii: "\n")]
  }
}
