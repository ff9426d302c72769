/// The variables that a program gets.
///
/// They start from what the caller hands in, never from those of this process. Of several entries with one name the
/// first counts, as for `getenv(3)`; what has no name is left out.
package struct ProcessEnvironment: Sendable, Equatable {
  /// Every variable as `NAME=value`.
  package private(set) var entries: [[UInt8]] = []

  /// An environment of entries as `environ(7)` has them.
  ///
  /// - Parameters:
  ///   - entries: Variables as `NAME=value`.
  ///   - locale: What `LC_ALL` becomes, so that messages and order do not depend on the person; nil leaves the
  ///     variables as they are.
  package init(entries: [[UInt8]], locale: String? = "C") {
    var names: Set<ArraySlice<UInt8>> = []
    for entry in entries {
      guard let end = entry.firstIndex(of: Self.equals), end > 0 else { continue }
      if names.insert(entry[..<end]).inserted { self.entries.append(entry) }
    }
    if let locale { set("LC_ALL", to: locale) }
  }

  /// An environment of names and values.
  ///
  /// - Parameters:
  ///   - variables: The values by name.
  ///   - locale: What `LC_ALL` becomes; nil leaves the variables as they are.
  package init(_ variables: [String: String], locale: String? = "C") {
    self.init(
      entries: variables.sorted { $0.key < $1.key }.map { Array("\($0.key)=\($0.value)".utf8) },
      locale: locale)
  }

  /// The value of a variable; nil when it is not set.
  package func value(_ name: String) -> ArraySlice<UInt8>? {
    let start = Self.start(name)
    return entries.first { $0.starts(with: start) }.map { $0[start.count...] }
  }

  /// Sets a variable.
  ///
  /// - Parameters:
  ///   - name: Its name; not empty, without `=`.
  ///   - value: Its value.
  package mutating func set(_ name: String, to value: String) {
    remove(name)
    entries.append(Self.start(name) + value.utf8)
  }

  /// Takes a variable over from another environment; where that has none, this one has none either.
  package mutating func take(_ name: String, from other: ProcessEnvironment) {
    remove(name)
    if let value = other.value(name) { entries.append(Self.start(name) + value) }
  }

  /// Removes a variable where there is one.
  package mutating func remove(_ name: String) {
    let start = Self.start(name)
    entries.removeAll { $0.starts(with: start) }
  }

  /// Removes all variables whose names begin with something, such as `GIT_`.
  package mutating func removeAll(prefix: String) {
    precondition(!prefix.utf8.contains(Self.equals), "a name has no = in it")
    entries.removeAll { $0.starts(with: prefix.utf8) }
  }

  private static let equals = UInt8(ascii: "=")

  private static func start(_ name: String) -> [UInt8] {
    precondition(!name.isEmpty && !name.utf8.contains(equals), "a name is not empty and has no = in it")
    return Array(name.utf8) + [equals]
  }
}
