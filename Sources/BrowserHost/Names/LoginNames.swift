internal import Encoding
internal import KeyringModel

/// The unique names of logins.
///
/// The names of the logins of one host depend on these logins alone, so they are the same in a list of all logins and in
/// a list of those of one host.
package struct LoginNames: Sendable {
  /// A login with its name.
  package struct Entry: Sendable {
    /// The name.
    package let name: LoginName
    /// The login.
    package let login: WebLogin
  }

  /// The result of a search for a name.
  package enum Match: Sendable {
    /// The login with the name.
    case login(WebLogin)
    /// Logins of several groups would have the name, so none of them has it.
    case contested
    /// No login has the name.
    case none
  }

  /// The logins, in the order in which they were given.
  package let entries: [Entry]
  /// The plain names that no login has, because logins of several groups would have them.
  private var contested: Set<LoginName> = []

  /// Names logins.
  ///
  /// A login has its plain name if no other login would have it. Of several in one group, the oldest has it. If they are
  /// in several groups, none has it: a member of one group could otherwise decide which login of another group the name
  /// means, and read a password that is saved under it. Such a member can choose the time of an item, so its age cannot
  /// decide. All others have the first digits of their ids in their names.
  ///
  /// - Parameter logins: The logins, in any order.
  package init(_ logins: [WebLogin]) {
    let plain = logins.map { LoginName($0) }
    var names: [LoginName?] = plain
    for (name, places) in Self.rivals(plain) {
      let isContested = places.contains { !logins[$0].hasSameReaders(as: logins[places[0]]) }
      if isContested { contested.insert(name) }
      var rest = places
      // A plain name must not look like that of another login with a number.
      if !isContested, !name.isNumbered { Self.removeOldest(&rest, of: logins) }
      Self.number(rest, name, logins, &names)
    }
    entries = zip(logins, names).compactMap { login, name in name.map { Entry(name: $0, login: login) } }
  }

  /// Returns the places of the logins that cannot simply have their plain names, by these names.
  private static func rivals(_ plain: [LoginName]) -> [LoginName: [Int]] {
    var first: [LoginName: Int] = Dictionary(minimumCapacity: plain.count)
    var rivals: [LoginName: [Int]] = [:]
    for (place, name) in plain.enumerated() {
      if name.isNumbered {
        rivals[name, default: []].append(place)
      } else if let other = first[name] {
        rivals[name, default: [other]].append(place)
      } else {
        first[name] = place
      }
    }
    return rivals
  }

  /// Removes the oldest login; of several with one time, the one with the smallest id.
  private static func removeOldest(_ places: inout [Int], of logins: [WebLogin]) {
    func age(_ place: Int) -> (Timestamp, String) {
      (logins[place].record.created, logins[place].record.id.hex)
    }
    guard let oldest = places.min(by: { age($0) < age($1) }) else { return }
    places.removeAll { $0 == oldest }
  }

  /// Gives logins names with as many digits of their ids as are needed to tell them apart.
  ///
  /// Two items with one id get no name: only a forged index has them.
  private static func number(
    _ places: [Int], _ name: LoginName, _ logins: [WebLogin], _ names: inout [LoginName?]
  ) {
    var rest = places.map { (place: $0, digits: logins[$0].record.id.hex) }
    for place in places { names[place] = nil }
    let length = rest.first?.digits.utf8.count ?? 0
    for count in stride(from: LoginName.digits, through: length, by: LoginName.digits) where !rest.isEmpty {
      let groups = Dictionary(grouping: rest) { $0.digits.prefix(count) }
      for (digits, members) in groups where members.count == 1 {
        names[members[0].place] = name.numbered(digits)
      }
      rest = groups.values.filter { $0.count > 1 }.flatMap { $0 }
    }
  }

  /// Returns the login with a name. An `@` in front of its account may be left out.
  package func match(_ name: LoginName) -> Match {
    if let exact = entries.first(where: { $0.name == name }) { return .login(exact.login) }
    if contested.contains(name) { return .contested }
    if let entry = entries.first(where: { $0.name.isSame(asUnmarked: name) }) { return .login(entry.login) }
    return contested.contains { $0.isSame(asUnmarked: name) } ? .contested : .none
  }

  /// Returns the login with a name; nil if there is none. An `@` in front of its account may be left out.
  package func login(named name: LoginName) -> WebLogin? {
    if case .login(let login) = match(name) { return login }
    return nil
  }
}

extension WebLogin {
  /// True if the same people can read both items. An item that never leaves this machine has only this user.
  fileprivate func hasSameReaders(as other: WebLogin) -> Bool {
    record.group == other.record.group && record.isLocal == other.record.isLocal
  }
}
