internal import Encoding
internal import FileSystem
internal import Glibc

/// The rules by which a name, or else the user's settings, select a store. They are the same for the command and for
/// programs that use the library.
package struct StoreLocation {
  /// The home folder; nil if `HOME` is not an absolute path.
  private let home: String?
  /// The folder for data, which contains the default store; nil if it is not known.
  private let dataHome: String?

  /// Creates the rules for a user.
  package init(home: String?, dataHome: String?) {
    (self.home, self.dataHome) = (home, dataHome)
  }

  /// A setting that names a store.
  package enum Setting {
    /// The folder of a named store.
    case store(String)
    /// The name or the folder of the default store.
    case defaultStore
  }

  /// Returns the path of a store.
  ///
  /// - Parameters:
  ///   - name: The name of a store in the settings, or a folder; nil for the default store.
  ///   - settings: Returns the value of a setting, nil if it has none. It is not called for a name with a `/`.
  /// - Returns: The path; nil if it is below the home folder, which is not known.
  /// - Throws: The error of `settings`.
  package func path<E: Error>(of name: String?, settings: (Setting) throws(E) -> String?) throws(E) -> String?
  {
    if let name { return try folder(of: name, settings) }
    guard let standard = try settings(.defaultStore) else { return dataHome.map { $0 + "/keytree" } }
    return try folder(of: standard, settings).flatMap(expanded)
  }

  /// Returns the folder of a named store, or the argument itself if no store has this name.
  private func folder<E: Error>(
    of name: String, _ settings: (Setting) throws(E) -> String?
  ) throws(E) -> String? {
    guard !name.utf8.contains(UInt8(ascii: "/")), let folder = try settings(.store(name)) else { return name }
    return expanded(folder)
  }

  /// Replaces `~/` at the beginning of a path in the settings, which no shell expands.
  private func expanded(_ path: String) -> String? {
    guard path.hasPrefix("~/") else { return path }
    return home.map { $0 + path.dropFirst() }
  }
}

extension StoreLocation {
  /// Returns the path of the store that the command `keytree` would use with the same variables.
  ///
  /// - Parameters:
  ///   - name: The name of a store in the user's settings, or a folder; nil for `KEYTREE_STORE`, else the setting
  ///     `defaultStore`, else `keytree` in `$XDG_DATA_HOME` (`~/.local/share`).
  ///   - variables: The environment variables.
  /// - Returns: The path.
  /// - Throws: `KeyringError.location`.
  package static func path(
    of name: String?, environment variables: [String: String]
  ) throws(KeyringError) -> String {
    do throws(StoreLocationError) {
      return try storePath(of: name, variables)
    } catch {
      throw .location(error)
    }
  }

  private static func storePath(
    of name: String?, _ variables: [String: String]
  ) throws(StoreLocationError) -> String {
    func folder(_ name: String) -> String? { variables[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    let home = folder("HOME")
    let configurationHome = folder("XDG_CONFIG_HOME") ?? home.map { $0 + "/.config" }
    let location = StoreLocation(
      home: home, dataHome: folder("XDG_DATA_HOME") ?? home.map { $0 + "/.local/share" })
    let named = name ?? variables["KEYTREE_STORE"].flatMap { $0.isEmpty ? nil : $0 }
    let path = try location.path(of: named) { setting throws(StoreLocationError) in
      guard let configurationHome else { return nil }
      return try NamedStores(path: configurationHome + "/keytree/config.json")[setting]
    }
    guard let path else { throw .homeUnknown }
    return path
  }
}

/// The settings that name stores, from the file of the command. Other settings in it are not examined.
private struct NamedStores {
  /// The largest size of the file in bytes.
  private static let limit = 1 << 16
  private let path: String
  private let members: [JSONMember]

  /// Reads the settings; none if the file does not exist.
  init(path: String) throws(StoreLocationError) {
    self.path = path
    guard let bytes = try Self.read(path) else {
      members = []
      return
    }
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: bytes, limits: JSONLimits(size: Self.limit, depth: 8))
    } catch {
      throw .settingsNotJSON(path: path, error)
    }
    guard case .object(let members) = value else {
      throw .badSetting("the file", mustBe: "a JSON object", path: path)
    }
    self.members = members
  }

  /// Reads the file; nil if it does not exist. Links are followed, because users keep their settings elsewhere.
  private static func read(_ path: String) throws(StoreLocationError) -> [UInt8]? {
    guard let target = RealPath.of(path), let slash = target.lastIndex(of: "/") else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .settings(.current("open", path))
    }
    let name = String(target[target.index(after: slash)...])
    let (bytes, weakness): ([UInt8]?, UnsafeFolderReason?)
    do throws(FileError) {
      let folder = try FileTree(at: "\(target[...slash])")
      weakness = try folder.status(name)?.weakness(in: .above)
      bytes = try folder.readOnce(name, limit: limit)
    } catch {
      throw .settings(error)
    }
    if let weakness { throw .unsafeSettings(path: path, weakness) }
    return bytes
  }

  /// The value of a setting; nil if it has none.
  subscript(setting: StoreLocation.Setting) -> String? {
    get throws(StoreLocationError) {
      let (name, value): (String, JSONValue?) =
        switch setting {
        case .defaultStore: ("defaultStore", member("defaultStore", of: members))
        case .store(let name): ("stores.\(name)", try stores.flatMap { member(name, of: $0) })
        }
      guard let value else { return nil }
      guard case .string(let text) = value, !text.isEmpty else {
        throw invalid(name, "text that is not empty")
      }
      if text.hasPrefix("/") || text.hasPrefix("~/") { return text }
      // A folder below the current one would be another one for each program.
      guard case .defaultStore = setting else {
        throw invalid(name, "an absolute path, or one that begins with `~/`")
      }
      guard try stores.flatMap({ member(text, of: $0) }) != nil else {
        throw invalid(
          name, "the name of a store in `stores`, an absolute path, or one that begins with `~/`")
      }
      return text
    }
  }

  private var stores: [JSONMember]? {
    get throws(StoreLocationError) {
      guard let value = member("stores", of: members) else { return nil }
      guard case .object(let stores) = value else { throw invalid("stores", "a JSON object") }
      return stores
    }
  }

  private func member(_ name: String, of members: [JSONMember]) -> JSONValue? {
    members.first { $0.name == name }?.value
  }

  private func invalid(_ name: String, _ expected: String) -> StoreLocationError {
    .badSetting(name, mustBe: expected, path: path)
  }
}
