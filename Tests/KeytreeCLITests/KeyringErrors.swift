import KeyringModel
import OpenPGP
import Sync
import TestSupport
@testable import CommandSupport
@testable import Keyring
@testable import KeytreeCLI

/// Every error that the library can throw, with its exit code and with texts that would do harm if they were written to
/// a terminal unescaped.
enum KeyringErrors {
  private static let evil = ErrorReportTests.evil
  private static let name = AttributeName(evil)
  private static let person = GnuPGKey.alice.fingerprint
  private static let time = Timestamp(microseconds: 0)
  private static let item = ItemReference.path(
    ItemPath(PrimaryKey(itemClass: .internetPassword, attributes: [.server: "x"], group: "default")))

  static var all: [(any ReportableError, ExitCode)] {
    let errors = store + attributes + items + damages + policies + engine + keys + team + shared
    return errors.map { ($0.0 as any ReportableError, $0.1) }
      + [(CommandError.editedMeanwhile(evil), .failure)]
      + [
        (CommandError.keyFile(.empty, source: "x"), .failure),
        (CommandError.keyFile(.secret, source: "x"), .failure),
        (CommandError.keyFile(.several([person, person]), source: "x"), .ambiguous),
        (CommandError.keyFile(.unreadable(needs: "2.5"), source: "x"), .recipientUnusable),
        (CommandError.keyFile(.unreadable(needs: nil), source: "x"), .recipientUnusable),
        (CommandError.keyFile(.other(person), source: "x"), .recipientUnusable),
        (CommandError.keyFile(.engine(.engineMissing(detail: evil)), source: "x"), .failure),
        (CommandError.severalPeople(evil, ["a", "b"]), .ambiguous),
        (CommandError.severalKeysWithMail(evil, ["a", "b"]), .ambiguous),
      ]
  }

  private static let store: [(KeyringError, ExitCode)] = [
    (.noStore(path: evil), .notFound),
    (.storeExists(path: evil), .alreadyExists),
    (.folderNotEmpty(path: evil), .alreadyExists),
    (.unsafeFolder(path: evil, .ownedBy(1000)), .failure),
    (.unsafeFolder(path: evil, .writableByOthers), .failure),
    (.location(.homeUnknown), .failure),
    (.location(.settings(FileError("open", evil, .system(13)))), .failure),
    (.location(.unsafeSettings(path: evil, .writableByOthers)), .failure),
    (.location(.settingsNotJSON(path: evil, .trailingData(offset: 1))), .failure),
    (.location(.badSetting(evil, mustBe: evil, path: evil)), .failure),
    (.busy(holder: 1), .storeBusy),
    (.busy(holder: nil), .storeBusy),
    (.history(HistoryError(.inProgress(.merge))), .gitFailed),
    (.file(FileError("open", evil, .system(13))), .failure),
    (.file(FileError("open", evil, .notARegularFile)), .damaged),
    (.file(FileError("open", evil, .hasOtherNames)), .damaged),
    (.file(FileError("open", evil, .tooLarge(limit: 1))), .damaged),
    (.invalidQuery(.secretOfAllMatches), .usage),
    (.invalidQuery(.limitNotPositive(0)), .usage),
    (.invalidQuery(.wrongClass(name, .key)), .usage),
    (.invalidQuery(.noSuchAttribute(name)), .usage),
    (.invalidQuery(.notADate(name)), .usage),
    (.invalidQuery(.badIDPrefix(evil)), .usage),
    (.unknownGroup(evil), .failure),
    (.transactionDamaged(folder: evil), .damaged), (.transactionOutdated(folder: evil), .damaged),
  ]

  private static let attributes: [(KeyringError, ExitCode)] =
    [
      .wrongClass(name, .key), .wrongKind(name, expected: .integer, .key), .valueTooLong(name, limit: 1),
      .integerOutOfRange(name), .emptyName, .nameTooLong(name, limit: 1), .controlCharacterInName(name),
      .reservedName(name), .invalidFieldName, .tooMany(limit: 1),
    ].map { (.invalidAttribute($0), .usage) }
    + [(.attributesTooLarge(.tooLong(limit: 1)), .usage), (.secretTooLarge(limit: 1), .failure)]

  private static let items: [(KeyringError, ExitCode)] = [
    (.itemNotFound, .notFound),
    (.itemExists(item), .alreadyExists),
    (.bindingMismatch(item, .keyring), .damaged),
    (.bindingMismatch(item, .place), .damaged),
    (.bindingMismatch(item, .index(name)), .damaged),
    (.bindingMismatch(item, .condition(name)), .damaged),
    (.bindingMismatch(item, .readers), .damaged),
    (.shardRefused(file: evil, .full(limit: 1)), .failure),
    (.shardRefused(file: evil, .wrongShard(path)), .damaged),
  ]

  private static let path = ItemPath(
    PrimaryKey(itemClass: .internetPassword, attributes: [.server: "x"], group: "default"))

  private static let damages: [(KeyringError, ExitCode)] =
    itemDamages.map { (.itemDamaged(item, $0), .damaged) } + shardDamages
    + [(.shardDamaged(file: evil, []), .damaged)]

  private static let itemDamages: [ItemDamage] =
    [
      .missing, .noRecord, .badSignature, .invalidSigner(person, .expired(time)),
      .invalidSigner(person, .revoked(KeyRevocation(created: time, reason: .compromised))), .notInIndex,
      .notAsRecorded, .notAFile, .tooLarge(limit: 1),
      .corrupt,
      .contentsTooLarge(limit: 1),
    ] + recordErrors.map { .badRecord($0) } + messageErrors.map { .notAMessage($0) }

  private static let recordErrors: [RecordError] = [
    .notARecord, .line(.missing(name)), .noProof, .notProven, .noStatement,
  ]

  private static let messageErrors: [MessageError] = [
    .empty, .tooLarge(limit: 1), .notBinary, .notEncrypted(tag: 8), .passphrase, .noIntegrityProtection,
    .noRecipients, .tooManyRecipients(limit: 1), .truncated, .trailingData, .malformed,
  ]

  private static let shardDamages: [(KeyringError, ExitCode)] =
    [
      .badLine(number: 1, .empty), .badLine(number: 1, .json(.duplicateKey(evil))),
      .badLine(number: 1, .missing(name)), .badLine(number: 1, .attribute(.reservedName(name))),
      .duplicatePath(path, lines: [1, 2]), .notCanonical(line: 1),
      .notSorted(line: 1), .wrongShard(line: 1, path), .missingFinalLineFeed, .tooLarge(size: 2, limit: 1),
    ].map { (.shardDamaged(file: evil, [$0]), .damaged) }

  private static let policies: [(KeyringError, ExitCode)] =
    [
      .notPinned, .changed(generation: 2, pinned: 1), .changed(generation: 1, pinned: 1),
      .changed(generation: 1, pinned: 2), .unsigned, .notSuccessor(generation: 2),
      .stepsMissing(generation: 3, pinned: 1), .restored(generation: 1, newer: 2),
      .contradictory(generation: 2, other: 2), .historyUnreadable(generation: 2),
      .keyExchanged(person, name: evil),
      .badSignature, .pinUnreadable, .keyMissing(person), .keyChanged(person, name: evil),
      .foreignSubkey(foreign), .unusableKeyFile(person, .tooManyParts(limit: 64)),
      .unreadable(.malformed(.duplicateKey(evil))),
      .unreadable(.unknownFormat(2)), .unreadable(.missing(evil)), .unreadable(.invalid(evil)),
      .unreadable(.unexpected(evil)), .unreadable(.notCanonical), .unreadable(.unnamedPerson(person)),
      .unreadable(.noAdmin), .unreadable(.noDefaultGroup), .unreadable(.emptyDefaultGroup),
      .unreadable(.badGroupName(evil)), .unreadable(.unknownPerson(person, group: evil)),
      .unreadable(.removedPerson(person, group: evil)), .unreadable(.tooMany(.people, limit: 1)),
      .unreadable(.tooMany(.groups, limit: 1)), .unreadable(.tooMany(.members(group: evil), limit: 1)),
      .unreadable(.nameTooLong(person, limit: 1)),
    ].map { (.policyNotTrusted($0), .policyNotTrusted) }

  private static let foreign = ForeignSubkey(person: person, owner: person, subkey: person)

  private static let engine: [(KeyringError, ExitCode)] = [
    (.engine(.cancelled, item), .cancelled),
    (.engine(.noPromptPossible, item), .cancelled),
    (.engine(.badPassphrase, item), .cannotDecrypt),
    (.engine(.notARecipient(recipients: []), item), .cannotDecrypt),
    (.engine(.corrupt, item), .damaged),
    (.engine(.messageOfAStore, item), .damaged),
    (.engine(.notEncrypted, item), .damaged),
    (.engine(.tooLarge(limit: 1), item), .damaged),
    (.engine(.message(.truncated), item), .damaged),
    (.engine(.noRecipients, nil), .recipientUnusable),
    (.engine(.foreignSubkey(foreign), nil), .recipientUnusable),
    (.engine(.wrongRecipients(expected: [], found: [], hint: evil), nil), .recipientUnusable),
    (.engine(.wrongRecipients(expected: [], found: [], hint: nil), nil), .recipientUnusable),
    (.engine(.agentUnreachable(detail: evil), nil), .cannotDecrypt),
    (.engine(.restrictedAgent, item), .cancelled), (.engine(.restrictedAgent, nil), .cancelled),
    (.engine(.engineMissing(detail: evil), nil), .failure),
    (.engine(.engineTooOld(version: evil), nil), .failure),
    (.engine(.unsafeEngine(path: evil, reason: evil), nil), .failure),
    (.engine(.incomplete(detail: evil), nil), .failure), (.engine(.incomplete(detail: evil), item), .failure),
    (.engine(.other(code: 1, source: evil, text: evil), nil), .failure),
  ]

  private static let keys: [(KeyringError, ExitCode)] =
    [
      .missing, .expired(time), .fromFuture(time), .revoked, .disabled, .cannotEncrypt, .cannotSign,
      .noSecretKey, .noSigningSecret(KeyID(value: 1)), .revokedHere(KeyID(value: 1)), .noPassphrase,
      .onCard, .invalid, .tooLarge(limit: 1), .unreadable(needs: "2.5"), .unreadable(needs: nil),
    ].map { (.engine(.unusableKey(person, $0), nil), .recipientUnusable) }

  private static let shared: [(KeyringError, ExitCode)] = [
    (.shared(.severalGroups, [item, item]), .ambiguous), (.shared(.otherGroup(evil), [item]), .alreadyExists),
    (
      .shared(.similar(.internetPassword, ["server": "x", "account": .string(evil)], group: evil), [item]),
      .alreadyExists
    ),
    (
      .shared(.similar(.genericPassword, ["service": "x", name: .bytes([255])], group: "x"), [item]),
      .alreadyExists
    ),
    (
      .shared(
        .removed(.internetPassword, ["server": "x", "account": .string(evil)], group: evil, from: evil),
        [item]),
      .alreadyExists
    ),
    (
      .shared(
        .removed(.genericPassword, ["service": "x", name: .bytes([255])], group: "x", from: evil), [item]),
      .alreadyExists
    ),
    (.shared(.plantedBy(person, name: evil), [item]), .alreadyExists),
    (.shared(.storedElsewhere(readers: 1), [item]), .alreadyExists),
    (.shared(.storedElsewhere(readers: 2), [item]), .alreadyExists),
    (.shared(.removal(group: evil), [item]), .failure), (.shared(.newReaders(group: evil), [item]), .failure),
  ]

  private static let team: [(KeyringError, ExitCode)] = teamErrors.map { (.team($0.0), $0.1) }

  private static func ended(
    _ group: String?, _ state: KeyObstacle.State, subkey: (Fingerprint, KeyObstacle.Use)? = nil,
    isMine: Bool = false
  ) -> KeyObstacle {
    KeyObstacle(
      person: person, name: evil, group: group, state: state, subkey: subkey, expiredSubkeys: [person],
      isMine: isMine, isAdmin: true, hasPrimarySecret: false)
  }

  private static let teamErrors: [(TeamError, ExitCode)] =
    [
      (.notAnAdmin, .policyNotTrusted), (.removed(time), .policyNotTrusted),
      (.notInGroup(evil), .recipientUnusable), (.notInGroup(evil, item), .recipientUnusable),
      (.unusableKey(person, name: evil, group: evil, .revoked), .recipientUnusable),
      (.keyEnded(ended(evil, .expired(time))), .recipientUnusable),
      (.keyEnded(ended(nil, .expired(time), subkey: (person, .signing), isMine: true)), .recipientUnusable),
      (.keyEnded(ended(nil, .expired(time), isMine: true)), .recipientUnusable),
      (.keyEnded(ended(evil, .revoked(KeyRevocation(created: time, reason: nil)))), .recipientUnusable),
      (.unusableKey(person, name: evil, group: evil, .unreadable(needs: "2.5")), .recipientUnusable),
      (.unreadableKey(person, name: evil, .unreadable(needs: nil)), .recipientUnusable),
      (.unreadableKey(person, name: evil, .missing), .recipientUnusable),
      (.foreignSubkey(foreign), .recipientUnusable),
      (.cannotReencrypt([item], count: 1, reason: .notARecipient), .cannotDecrypt),
      (.cannotReencrypt([item, item], count: 12, reason: .damaged), .damaged), (.lastAdmin, .failure),
      (.losesOwnAccess(groups: [evil, evil]), .failure), (.losesOwnAccess(groups: []), .failure),
      (.lastReader(group: evil, items: 1), .failure), (.lastReader(group: evil, items: 2), .failure),
      (.groupInUse(evil, items: 1), .failure), (.groupInUse(evil, items: 2), .failure),
      (.invalid(.emptyDefaultGroup), .failure), (.invalid(.badGroupName(evil)), .failure),
      (.keyFileMissing(person), .failure), (.overtaken, .failure),
      (.keyFilesTooLarge(limit: 1), .failure), (.noCommonPolicy, .policyNotTrusted),
    ]
}
