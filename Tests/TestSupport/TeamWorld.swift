package import Keyring
package import KeyringModel
package import OpenPGP
internal import Secrets

/// A store that several people use, each with a GnuPG home and a pin.
package final class TeamWorld: Sendable {
  private let scratch = ScratchFolder()
  private let homes: [GnuPGKey: GnuPGHome]
  private let clock: Clock

  /// The folder of the store, which all people share, as if it were carried between their machines.
  package var path: String { "\(scratch.path)/store" }

  /// Creates the people and the store of the first one.
  ///
  /// - Parameters:
  ///   - people: The people.
  ///   - clock: The clock of all machines. For keys that a test makes, it must not be behind that of GnuPG.
  package init(_ people: [GnuPGKey] = [.alice, .bob, .carol], clock: Clock = Clock()) throws {
    self.clock = clock
    var homes: [GnuPGKey: GnuPGHome] = [:]
    for person in people { homes[person] = try GnuPGHome(secret: [person]) }
    self.homes = homes
    _ = try Keyring.create(at: path, owner: people[0].fingerprint, host: host(people[0]))
  }

  /// Returns the GnuPG home of a person.
  package func gnupg(_ person: GnuPGKey) -> GnuPGHome {
    guard let home = homes[person] else { preconditionFailure("\(person) is not in this world") }
    return home
  }

  package func host(_ person: GnuPGKey, workers: Int = 2) -> HostContext {
    let locations = gnupg(person).locations
    var host = HostContext(
      gnupgHome: locations.userHome, engineBase: locations.runtimeBase,
      stateBase: "\(scratch.path)/state-\(person.rawValue)", searchPath: locations.searchPath,
      workers: workers, clock: clock.now)
    // Tests commit changes themselves.
    host.commitsChanges = false
    return host
  }

  /// Opens the store as a person.
  package func open(_ person: GnuPGKey, faults: FaultPlan? = nil) throws -> Keyring {
    try Keyring.open(at: path, host: host(person), faults: faults, engine: nil)
  }

  /// Accepts the store's policy as a person.
  package func trust(_ person: GnuPGKey) throws {
    try Trust(at: path, host: host(person)).accept()
  }

  package func tree() throws -> FileTree { try FileTree(at: path) }

  /// Returns the key file that a person has in the store.
  package func keyFile(_ person: GnuPGKey) throws -> KeyFile {
    try KeyFile(reading: [person.publicKey], locations: gnupg(.alice).locations)
  }

  /// Adds people to a group, which is created if it does not exist.
  package func add(
    _ people: [GnuPGKey], to group: String = GroupName.default, role: Person.Role = .member,
    by admin: GnuPGKey = .alice
  ) throws {
    let keyring = try open(admin)
    var edits: [PolicyEdit] = []
    if keyring.policy.groups[group] == nil {
      edits += [.create(group: group), .join(admin.fingerprint, group: group)]
    }
    var keys: [Fingerprint: [UInt8]] = [:]
    for person in people {
      let file = try keyFile(person)
      if !keyring.policy.isMember(person.fingerprint) {
        edits.append(
          .add(
            person.fingerprint, name: person.mail, role: role, key: ContentDigest(of: file.bytes),
            encryptTo: [person.encryptionSubkey]))
        keys[person.fingerprint] = file.bytes
      }
      edits.append(.join(person.fingerprint, group: group))
    }
    _ = try keyring.make(try keyring.plan(edits, newKeys: keys))
  }

  /// Removes a person from the keyring.
  package func remove(_ person: GnuPGKey, by admin: GnuPGKey = .alice) throws {
    let keyring = try open(admin)
    _ = try keyring.make(try keyring.plan([.remove(person.fingerprint)]))
  }

  /// Adds items as a person.
  package func addItems(
    _ count: Int, group: String = GroupName.default, by person: GnuPGKey = .alice
  ) throws -> [ItemRecord] {
    let keyring = try open(person)
    let items = (0..<count).map { number in
      var item = NewItem.login("\(group)-\(number).example", "me")
      item.group = group
      return item
    }
    return try keyring.addAll(items, secret: { SecretBytes(text: "secret \($0)") }).compactMap { outcome in
      if case .added(let record) = outcome { record } else { nil }
    }
  }

  /// Returns the key ids of the recipients of every item.
  package func recipients() throws -> [ItemPath: [KeyID]] {
    let keyring = try open(.alice)
    var result: [ItemPath: [KeyID]] = [:]
    for record in try keyring.find(Query()).items {
      result[record.path] = try keyring.readers(of: record).readers.map(\.id)
    }
    return result
  }

  /// Returns the ids of all subkeys of a person.
  package func keyIDs(_ person: GnuPGKey) throws -> Set<KeyID> {
    Set(try keyFile(person).key.subkeys.map(\.keyID))
  }
}
