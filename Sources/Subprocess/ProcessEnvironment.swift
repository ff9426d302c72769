/// The environment variables of a program.
///
/// They come from the caller, never from the environment of this process. If a name occurs more than once, the first
/// entry is kept, as `getenv(3)` does. Entries without a name are dropped.
package struct ProcessEnvironment: Sendable, Equatable {
  /// Every variable as `NAME=value`.
  package private(set) var entries: [[UInt8]] = []

  /// Creates an environment from entries in the format of `environ(7)`.
  ///
  /// - Parameters:
  ///   - entries: Variables as `NAME=value`.
  ///   - locale: The value of `LC_ALL`, so that messages and sort order do not depend on the user's settings; nil
  ///     leaves the variable unchanged.
  package init(entries: [[UInt8]], locale: String? = "C") {
    var names: Set<ArraySlice<UInt8>> = []
    for entry in entries {
      guard let end = entry.firstIndex(of: Self.equals), end > 0 else { continue }
      if names.insert(entry[..<end]).inserted { self.entries.append(entry) }
    }
    if let locale { set("LC_ALL", to: locale) }
  }

  /// Creates an environment from names and values.
  ///
  /// - Parameters:
  ///   - variables: The values by name.
  ///   - locale: The value of `LC_ALL`; nil leaves the variable unchanged.
  package init(_ variables: [String: String], locale: String? = "C") {
    self.init(
      entries: variables.sorted { $0.key < $1.key }.map { Array("\($0.key)=\($0.value)".utf8) },
      locale: locale)
  }

  /// Returns the value of a variable; nil if it is not set.
  package func value(_ name: String) -> ArraySlice<UInt8>? {
    let start = Self.start(name)
    return entries.first { $0.starts(with: start) }.map { $0[start.count...] }
  }

  /// Sets a variable.
  ///
  /// - Parameters:
  ///   - name: The name, which must not be empty or contain `=`.
  ///   - value: The value.
  package mutating func set(_ name: String, to value: String) {
    remove(name)
    entries.append(Self.start(name) + value.utf8)
  }

  /// Copies a variable from another environment; removes it if it is not set there.
  package mutating func take(_ name: String, from other: ProcessEnvironment) {
    remove(name)
    if let value = other.value(name) { entries.append(Self.start(name) + value) }
  }

  /// Removes a variable if it is set.
  package mutating func remove(_ name: String) {
    let start = Self.start(name)
    entries.removeAll { $0.starts(with: start) }
  }

  /// Removes all variables whose names start with a prefix, such as `GIT_`.
  package mutating func removeAll(prefix: String) {
    precondition(!prefix.utf8.contains(Self.equals), "the prefix contains =")
    entries.removeAll { $0.starts(with: prefix.utf8) }
  }

  private static let equals = UInt8(ascii: "=")

  private static func start(_ name: String) -> [UInt8] {
    precondition(!name.isEmpty && !name.utf8.contains(equals), "the name is empty or contains =")
    return Array(name.utf8) + [equals]
  }
}
