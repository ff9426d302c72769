import Encoding
import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Subprocess
import Sync
import TestSupport

/// Two machines, three people and a bare repository: Alice works at both machines, Bob at the first one and Carol at
/// the second one. Alice and Bob are admins.
final class SimulatedWorld {
  let folder = ScratchFolder()
  let seats: [SimulatedSeat]
  let clocks = [MachineClock(), MachineClock()]
  /// An engine with everybody's keys, to compare the stores with the model.
  let reader: any OpenPGPEngine
  /// The GnuPG home of `reader`; nil for the stand-in.
  private let home: GnuPGHome?
  /// The decrypted texts by the digests of their files.
  private var known: [ContentDigest: String] = [:]
  private let people: [SimulatedPerson]

  var hub: String { "\(folder.path)/hub.git" }

  /// Creates the store with three people and a clone for every seat.
  ///
  /// - Parameter usesGnuPG: False for stand-ins.
  init(usesGnuPG: Bool = false) throws {
    let people = try usesGnuPG ? SimulatedPerson.gnupg() : SimulatedPerson.standIns
    self.people = people
    let keys: [GnuPGKey] = [.alice, .bob, .carol]
    if usesGnuPG {
      let home = try GnuPGHome(secret: keys)
      self.home = home
      reader = Engine(
        locations: home.locations, keyringID: "00", keys: GnuPGKey.files(keys), interaction: .never)
    } else {
      home = nil
      reader = EngineDouble(readers: Set(people.map(\.fingerprint)))
    }
    let folders = "\(folder.path)/home"
    try FileManager.default.createDirectory(atPath: folders, withIntermediateDirectories: true)
    let variables = [
      "HOME": folders, "PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1",
      "GIT_AUTHOR_NAME": "P", "GIT_AUTHOR_EMAIL": "p@example.org", "GIT_COMMITTER_NAME": "P",
      "GIT_COMMITTER_EMAIL": "p@example.org",
    ]
    seats = [(0, 0), (0, 1), (1, 0), (2, 1)].enumerated().map { [folder, clocks] number, place in
      let (person, machine) = place
      return SimulatedSeat(
        number: number, name: people[person].name, person: people[person].fingerprint,
        path: "\(folder.path)/clone\(number)",
        host: people[person].host("\(folder.path)/seat\(number)", clocks[machine]), clock: clocks[machine],
        variables: variables)
    }
    try begin()
  }

  private func begin() throws {
    let (seat, founder) = (seats[0], people[0])
    _ = try Keyring.create(
      at: seat.path,
      founder: .init(
        fingerprint: founder.fingerprint, name: founder.name, keyFile: founder.keyFile,
        encryptTo: [founder.subkey]),
      host: seat.host, faults: nil,
      engine: { [host = seat.host] in founder.engine(host, $0) })
    try git(["init", "-q", "-b", "main"], in: seat.path)
    try git(["init", "-q", "--bare", "-b", "main", hub])
    try git(["remote", "add", "origin", hub], in: seat.path)
    try seat.commit()
    let opened = try seat.open()
    _ = try opened.make(try opened.plan(people.dropFirst().flatMap(edits), newKeys: keyFiles))
    try seat.commit()
    try git(["push", "-q", "origin", "main"], in: seat.path)
    for seat in seats.dropFirst() {
      try git(["clone", "-q", hub, seat.path])
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: seat.path)
      try trust(seat)
    }
  }

  /// The key files of all people.
  var keyFiles: [Fingerprint: [UInt8]] {
    Dictionary(uniqueKeysWithValues: people.map { ($0.fingerprint, $0.keyFile) })
  }

  /// Returns the edits that add a person to the keyring and to the default group.
  func edits(adding person: SimulatedPerson) -> [PolicyEdit] {
    [
      .add(
        person.fingerprint, name: person.name, role: person.role, key: ContentDigest(of: person.keyFile),
        encryptTo: [person.subkey]),
      .join(person.fingerprint, group: GroupName.default),
    ]
  }

  /// Returns the edits that add a person again.
  func edits(adding fingerprint: Fingerprint) -> [PolicyEdit] {
    people.filter { $0.fingerprint == fingerprint }.flatMap(edits)
  }

  /// Accepts the policy in the store of a seat, whatever was accepted before, as `trust` does after it has asked.
  ///
  /// - Returns: True if the store has changed, because a newer policy was dropped.
  @discardableResult
  func trust(_ seat: SimulatedSeat) throws -> Bool {
    let engine = people.first { $0.fingerprint == seat.person }?.standIn
    try Trust(at: seat.path, host: seat.host, engine: engine, own: [seat.person]).accept()
    return try signPastDropped(seat)
  }

  /// Signs the policy of a seat again until no policy that a merge has dropped is newer, if its person is an admin, as
  /// `sync --reapply` and `trust` do.
  ///
  /// - Returns: True if the store has changed.
  func signPastDropped(_ seat: SimulatedSeat) throws -> Bool {
    let room = try VerificationWorkspace(host: seat.host, engine: reader as? EngineDouble)
    defer { room.remove() }
    try seat.commit()
    guard let generation = try PolicyHistory.droppedGeneration(in: try seat.repository(), room: room) else {
      return false
    }
    return try raiseGeneration(to: generation, seat)
  }

  /// Signs the policy of a seat again until it has at least a given generation, if its person is an admin.
  ///
  /// - Returns: True if the store has changed.
  func raiseGeneration(to generation: Int, _ seat: SimulatedSeat) throws -> Bool {
    let keyring = try seat.open()
    guard keyring.policy.generation < generation, keyring.policy.admins.contains(seat.person) else {
      return false
    }
    _ = try keyring.raiseGeneration(to: generation, subject: "accept the people and groups of the remote") {
      try seat.commit()
    }
    return true
  }

  @discardableResult
  func git(_ words: [String], in place: String? = nil) throws -> String {
    var run = ProgramRun("/usr/bin/git", words, environment: ProcessEnvironment(seats[0].variables))
    run.folder = place ?? folder.path
    run.timeout = .seconds(120)
    let outcome = try run.run()
    guard outcome.ending == .exited(status: 0) else {
      throw SimulationFailure("git \(words): \(String(decoding: outcome.errors, as: UTF8.self))")
    }
    return String(decoding: outcome.output, as: UTF8.self)
  }

  /// Returns the secrets in the encrypted files of a clone: the paths by secret.
  func texts(_ seat: SimulatedSeat) throws -> [String: Set<String>] {
    var texts: [String: Set<String>] = [:]
    for path in messages(seat) {
      guard let bytes = FileManager.default.contents(atPath: "\(seat.path)/\(path)") else { continue }
      texts[try text(of: Array(bytes), path), default: []].insert(path)
    }
    return texts
  }

  /// Returns the items that some encrypted files of a clone belong to.
  func items(at files: Set<String>, _ seat: SimulatedSeat) throws -> Set<SimulatedItem> {
    Set(
      try files.compactMap { file in
        let record = file.dropLast(StoreLayout.secretExtension.utf8.count) + StoreLayout.recordExtension
        // An interrupted command of the simulated person may have left a file that is not an item.
        guard let bytes = FileManager.default.contents(atPath: "\(seat.path)/\(record)") else { return nil }
        let line = try RecordFile(parsing: Array(bytes)).record
        return SimulatedItem(id: line.id, path: line.path)
      })
  }

  /// Returns true if the history of a clone names a commit in which one of some items has a secret, as
  /// `keytree history` shows it.
  func hasPast(_ text: String, of items: Set<SimulatedItem>, _ seat: SimulatedSeat) throws -> Bool {
    let repository = try seat.repository()
    for item in items {
      for version in try ItemHistory(of: item.id, from: item.path, in: repository).versions {
        guard let record = version.record, known[record.sealed] == text else { continue }
        let file = StoreLayout.itemFile(record.path, isLocal: false)
        return try git(["cat-file", "-t", "\(version.commit.name):\(file)"], in: seat.path) == "blob\n"
      }
    }
    return false
  }

  /// Returns the paths of the encrypted files of a clone.
  func messages(_ seat: SimulatedSeat) -> [String] {
    ["items", "conflicts"].flatMap { folder in
      (FileManager.default.enumerator(atPath: "\(seat.path)/\(folder)")?.allObjects as? [String] ?? [])
        .filter { $0.hasSuffix(".gpg") }.map { "\(folder)/\($0)" }
    }.sorted()
  }

  private func text(of bytes: [UInt8], _ path: String) throws -> String {
    let digest = ContentDigest(of: bytes)
    if let text = known[digest] { return text }
    let secret: SecretBytes
    do {
      secret = try reader.open(bytes, limit: 1 << 20)
    } catch {
      throw SimulationFailure("\(path) cannot be decrypted by anyone: \(error)")
    }
    let text = secret.text()
    known[digest] = text
    return text
  }
}

/// An item of a simulated store.
struct SimulatedItem: Hashable {
  let id: ItemID
  let path: ItemPath
}

/// A person in the simulation.
struct SimulatedPerson: Sendable {
  let name: String
  let fingerprint: Fingerprint
  let role: Person.Role
  let keyFile: [UInt8]
  /// The subkey that items are encrypted to.
  let subkey: Fingerprint
  /// The stand-in for GnuPG; nil for GnuPG.
  let standIn: EngineDouble?
  /// The GnuPG home; nil for the stand-in.
  let gnupg: GnuPGHome?

  static var standIns: [SimulatedPerson] {
    [("alice", 1), ("bob", 2), ("carol", UInt8(3))].map { name, number in
      let fingerprint = EngineDouble.fingerprint(number)
      return SimulatedPerson(
        name: name, fingerprint: fingerprint, role: number == 3 ? .member : .admin,
        keyFile: Array(fingerprint.text.utf8), subkey: fingerprint,
        standIn: EngineDouble(readers: [fingerprint]), gnupg: nil)
    }
  }

  /// Returns people with throw-away keys and GnuPG homes.
  static func gnupg() throws -> [SimulatedPerson] {
    try [GnuPGKey.alice, .bob, .carol].map { key in
      let home = try GnuPGHome(secret: [key])
      return SimulatedPerson(
        name: key.rawValue, fingerprint: key.fingerprint, role: key == .carol ? .member : .admin,
        keyFile: try KeyFile(reading: [key.publicKey], locations: home.locations).bytes,
        subkey: key.encryptionSubkey, standIn: nil, gnupg: home)
    }
  }

  /// Returns the properties of a machine for this person.
  ///
  /// - Parameters:
  ///   - folder: The folder for the state of this person on the machine.
  ///   - clock: The clock of the machine.
  func host(_ folder: String, _ clock: MachineClock) -> HostContext {
    var host = HostContext(
      gnupgHome: gnupg?.locations.userHome, engineBase: gnupg?.locations.runtimeBase ?? "\(folder)/engine",
      stateBase: "\(folder)/state/keytree",
      searchPath: gnupg?.locations.searchPath ?? "/usr/local/bin:/usr/bin:/bin",
      lockTimeout: 30, workers: 1, clock: clock.now)
    if let standIn { host.engineFactory = { _, keys in standIn.with(keys: keys) } }
    return host
  }

  /// Returns the engine for a new store of this person.
  func engine(_ host: HostContext, _ keyring: KeyringID) -> any OpenPGPEngine {
    standIn
      ?? Engine(
        locations: host.engineLocations, keyringID: keyring.hex, keys: [fingerprint: keyFile],
        interaction: .pinentry)
  }
}
