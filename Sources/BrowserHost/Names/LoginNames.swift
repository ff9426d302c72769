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

  /// The logins, in the order of their creation.
  package let entries: [Entry]

  /// Names logins. Of several with the same host and account, the oldest has the plain name.
  ///
  /// - Parameter logins: The logins, in any order.
  package init(_ logins: [WebLogin]) {
    let sorted = Self.byCreation(logins)
    var names: [LoginName?] = []
    var used = Set<LoginName>(minimumCapacity: sorted.count)
    names.reserveCapacity(sorted.count)
    for login in sorted {
      let name = LoginName(login)
      names.append(used.insert(name).inserted ? name : nil)
    }
    entries = zip(sorted, names).compactMap { login, plain in
      if let plain { return Entry(name: plain, login: login) }
      let base = LoginName(login)
      let digits = login.record.id.hex
      // An account can look like a numbered name. Then more digits are needed.
      for count in stride(from: 8, through: digits.utf8.count, by: 8) {
        let name = base.numbered(digits.prefix(count))
        if used.insert(name).inserted { return Entry(name: name, login: login) }
      }
      // Two items with one id: only a forged index has them.
      return nil
    }
  }

  /// Returns logins in the order of their creation, those of the group `default` first, so that a member of another
  /// group cannot take over the plain name of a login; and of equal times in the order of their ids.
  private static func byCreation(_ logins: [WebLogin]) -> [WebLogin] {
    // Positions are sorted, because moving whole records takes longer.
    var places = logins.indices.map { index in
      let record = logins[index].record
      return (isOther: record.group != GroupName.default ? 1 : 0, created: record.created, index: index)
    }
    places.sort { ($0.isOther, $0.created) < ($1.isOther, $1.created) }
    var start = 0
    while start < places.count {
      let first = places[start]
      let end =
        places[start...].firstIndex { $0.created != first.created || $0.isOther != first.isOther }
        ?? places.count
      // Logins of one import have the same time. The text of each id is made only once.
      if end - start > 1 {
        let tied = places[start..<end].map { (id: logins[$0.index].record.id.hex, place: $0) }
        places.replaceSubrange(start..<end, with: tied.sorted { $0.id < $1.id }.map(\.place))
      }
      start = end
    }
    return places.map { logins[$0.index] }
  }

  /// Returns the login with a name. An `@` in front of its account may be left out.
  package func login(named name: LoginName) -> WebLogin? {
    if let exact = entries.first(where: { $0.name == name }) { return exact.login }
    return entries.first { $0.name.isSame(asUnmarked: name) }?.login
  }
}
