package import Encoding

/// The user's settings: `$XDG_CONFIG_HOME/keytree/config.json`. The file is optional, and a store never contains it.
///
/// Members that this version does not know are kept when the file is written.
package struct Configuration: Equatable, Sendable {
  /// One setting.
  package enum Setting: Hashable, Sendable {
    /// The folder of a named store.
    case store(String)
    /// The name or the folder of the store for commands without `--store` and `KEYTREE_STORE`.
    case defaultStore
    /// The time after which `--clip` clears the clipboard, in seconds; 0 for never.
    case clipboardSeconds
    /// The number of characters of a generated secret.
    case generateLength
    /// The characters of a generated secret, as for `--charset`.
    case generateCharset
    /// The program with which the user chooses an item, and its arguments.
    case picker
    /// The names or folders of the stores that a browser may use besides the default one, separated by commas.
    case browserStores
    /// The protocols besides `http` and `https` whose logins a browser sees, separated by commas.
    case browserProtocols
    /// The extensions that may call `browser-host` besides the published ones, separated by commas.
    case browserOrigins
    /// The number of logins that a browser may fetch in one minute.
    case browserFetchesPerMinute
    /// True to refuse a login for a tab with another protocol, port or host.
    case browserRestrictToSite
    /// True if a browser may store logins whose names have no host.
    case browserGeneric

    /// The settings with fixed names.
    package static let fixed: [Setting] = [
      .defaultStore, .clipboardSeconds, .generateLength, .generateCharset, .picker, .browserStores,
      .browserProtocols, .browserOrigins, .browserFetchesPerMinute, .browserRestrictToSite, .browserGeneric,
    ]

    /// The names of the members that lead to the setting.
    fileprivate var path: [String] {
      switch self {
      case .store(let name): ["stores", name]
      case .defaultStore: ["defaultStore"]
      case .clipboardSeconds: ["clipboardSeconds"]
      case .generateLength: ["generate", "length"]
      case .generateCharset: ["generate", "charset"]
      case .picker: ["picker"]
      case .browserStores: ["browser", "stores"]
      case .browserProtocols: ["browser", "protocols"]
      case .browserOrigins: ["browser", "origins"]
      case .browserFetchesPerMinute: ["browser", "fetchesPerMinute"]
      case .browserRestrictToSite: ["browser", "restrictToSite"]
      case .browserGeneric: ["browser", "generic"]
      }
    }

    /// The name on the command line: `generate.length`.
    package var name: String { path.joined(separator: ".") }

    /// Returns the setting with a name, or nil if there is none.
    package init?(name: String) {
      if let fixed = Self.fixed.first(where: { $0.name == name }) {
        self = fixed
        return
      }
      let prefix = "stores."
      guard name.hasPrefix(prefix), name.utf8.count > prefix.utf8.count, !name.contains("/") else {
        return nil
      }
      self = .store(String(name.dropFirst(prefix.count)))
    }
  }

  /// The reason why a file or a value cannot be used.
  package enum Problem: Error, Equatable {
    /// The file is not JSON.
    case notJSON(JSONError)
    /// A member has the wrong type or value; the text is what it must be.
    case badValue(String, mustBe: String)
  }

  /// The largest size of the file in bytes.
  static let limit = 1 << 16
  /// The permitted numbers of seconds before the clipboard is cleared.
  package static let clipboardSeconds = 0...86_400
  /// The permitted numbers of characters of a generated secret.
  package static let generatedLengths = 1...1000
  /// The permitted numbers of logins that a browser may fetch in one minute.
  package static let fetchesPerMinute = 1...1000

  private var members: [JSONMember] = []

  /// Creates settings without any value.
  package init() {}

  /// Creates settings from the content of the file.
  ///
  /// - Parameters:
  ///   - bytes: the content.
  ///   - isChecked: false to accept any values, so that one of them can be corrected.
  /// - Throws: `Problem`.
  package init(parsing bytes: [UInt8], isChecked: Bool = true) throws(Problem) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: bytes, limits: JSONLimits(size: Self.limit, depth: 8))
    } catch {
      throw .notJSON(error)
    }
    guard case .object(let members) = value else { throw .badValue("the file", mustBe: "a JSON object") }
    self.members = members
    if isChecked { try check() }
  }

  /// Throws the first problem of the values.
  package func check() throws(Problem) {
    for group in ["stores", "generate", "browser"] {
      guard let value = members[group] else { continue }
      guard case .object = value else { throw .badValue(group, mustBe: "a JSON object") }
    }
    for setting in settings { try Self.check(self[setting], of: setting) }
    // A folder below the current one would be another one for each command.
    guard let text = text(.defaultStore), !Self.isAbsolute(text), !storeNames.contains(text) else { return }
    throw .badValue(
      Setting.defaultStore.name,
      mustBe: "the name of a store in `stores`, an absolute path, or one that begins with `~/`")
  }

  /// The content of the file.
  package var bytes: [UInt8] { JSONValue.object(members).canonicalBytes + [UInt8(ascii: "\n")] }

  /// The settings that have a value, sorted by their names.
  package var settings: [Setting] {
    let fixed = Setting.fixed.filter { self[$0] != nil }
    return (fixed + storeNames.map { .store($0) }).sorted { $0.name < $1.name }
  }

  /// The names of stores.
  package var storeNames: [String] {
    guard case .object(let stores)? = members["stores"] else { return [] }
    return stores.map(\.name)
  }

  /// The value of a setting, or nil if it has none.
  private subscript(setting: Setting) -> JSONValue? {
    let path = setting.path
    guard let first = members[path[0]] else { return nil }
    if path.count == 1 { return first }
    guard case .object(let group) = first else { return nil }
    return group[path[1]]
  }

  /// Returns true if a setting has a value, valid or not.
  package func has(_ setting: Setting) -> Bool { self[setting] != nil }

  /// Returns the value of a setting as text, or nil if it has none.
  package func text(_ setting: Setting) -> String? {
    switch self[setting] {
    case .string(let text): text
    case .integer(let number): String(number)
    case .bool(let flag): flag ? "true" : "false"
    default: nil
    }
  }

  /// Returns true if a setting has the value `true`.
  package func flag(_ setting: Setting) -> Bool { self[setting] == .bool(true) }

  /// Returns the parts of a value that is a list with commas; empty if the setting has no value.
  package func list(_ setting: Setting) -> [String] {
    (text(setting) ?? "").split(separator: ",").map { part in
      String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }.filter { !$0.isEmpty }
  }

  /// Returns the value of a setting as a number, or nil if it has none.
  package func number(_ setting: Setting) -> Int? {
    guard case .integer(let number)? = self[setting] else { return nil }
    return Int(number)
  }

  /// Changes a setting.
  ///
  /// - Parameters:
  ///   - setting: the setting.
  ///   - text: the new value; nil to remove the setting.
  /// - Throws: `badValue`.
  package mutating func set(_ setting: Setting, to text: String?) throws(Problem) {
    let value: JSONValue? = text.map { text in
      if Self.isFlag(setting) {
        return text == "true" ? .bool(true) : text == "false" ? .bool(false) : .string(text)
      }
      guard Self.range(of: setting) != nil else { return .string(text) }
      return Int64(text).map { .integer($0) } ?? .string(text)
    }
    try Self.check(value, of: setting)
    let path = setting.path
    guard path.count > 1 else {
      members[path[0]] = value
      return
    }
    var group: [JSONMember] = []
    if case .object(let members)? = members[path[0]] { group = members }
    group[path[1]] = value
    members[path[0]] = group.isEmpty ? nil : .object(group)
  }

  private static func isAbsolute(_ path: String) -> Bool { path.hasPrefix("/") || path.hasPrefix("~/") }

  private static func check(_ value: JSONValue?, of setting: Setting) throws(Problem) {
    guard let value else { return }
    if isFlag(setting) {
      guard case .bool = value else { throw .badValue(setting.name, mustBe: "`true` or `false`") }
      return
    }
    if let range = range(of: setting) {
      guard case .integer(let number) = value, range.contains(Int(number)) else {
        throw .badValue(setting.name, mustBe: "a number from \(range.lowerBound) to \(range.upperBound)")
      }
      return
    }
    guard case .string(let text) = value, !text.isEmpty, !text.utf8.contains(0) else {
      throw .badValue(setting.name, mustBe: "text that is not empty")
    }
    if case .store = setting, !isAbsolute(text) {
      throw .badValue(setting.name, mustBe: "an absolute path, or one that begins with `~/`")
    }
  }

  /// Returns the permitted numbers of a setting, or nil if its value is text.
  private static func range(of setting: Setting) -> ClosedRange<Int>? {
    switch setting {
    case .clipboardSeconds: clipboardSeconds
    case .generateLength: generatedLengths
    case .browserFetchesPerMinute: fetchesPerMinute
    case .store, .defaultStore, .generateCharset, .picker, .browserStores, .browserProtocols, .browserOrigins,
      .browserRestrictToSite, .browserGeneric:
      nil
    }
  }

  /// Returns true if the value of a setting is `true` or `false`.
  private static func isFlag(_ setting: Setting) -> Bool {
    switch setting {
    case .browserRestrictToSite, .browserGeneric: true
    case .store, .defaultStore, .clipboardSeconds, .generateLength, .generateCharset, .picker, .browserStores,
      .browserProtocols, .browserOrigins, .browserFetchesPerMinute:
      false
    }
  }
}

extension [JSONMember] {
  /// The value of the member with a name.
  fileprivate subscript(name: String) -> JSONValue? {
    get { first { $0.name == name }?.value }
    set {
      let index = firstIndex { $0.name == name }
      switch (index, newValue) {
      case (let index?, let value?): self[index] = JSONMember(name, value)
      case (let index?, nil): remove(at: index)
      case (nil, let value?): append(JSONMember(name, value))
      case (nil, nil): break
      }
    }
  }
}
