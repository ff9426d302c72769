import Foundation
import TestSupport
import Testing

/// Random changes in two clones that are merged by plain git with keytree's drivers, real GnuPG and real files: no
/// secret and no label of either side is lost.
///
/// The test runs a few seeds; `KEYTREE_PLAIN_SEEDS` runs more.
@Suite("Plain git, random histories", .serialized, .slow)
struct PlainGitFuzzTests {
  private static let seeds =
    ProcessInfo.processInfo.environment["KEYTREE_PLAIN_SEEDS"].flatMap { UInt64($0) } ?? 3

  /// The state of the items in one clone, by their original names.
  private struct Side {
    var names: [String: String]
    var secrets: [String: String] = [:]
    var labels: [String: String] = [:]
    var deleted: Set<String> = []
  }

  private static let items = (0..<6).map { "h\($0).example/me" }

  @Test(arguments: 0..<seeds)
  func `merging by plain git loses no secret and no label of either side`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let clones = try PlainGitTests.Clones(Self.items.count)
    var sides = [Side](
      repeating: Side(names: Dictionary(uniqueKeysWithValues: Self.items.map { ($0, $0) })), count: 2)
    for step in 0..<12 {
      try change(Int.random(in: 0..<2, using: &generator), step, &sides, clones, &generator)
    }
    try clones.here("sync")
    let way = [["merge", "-q", "--no-edit"], ["rebase", "-q"]].randomElement(using: &generator) ?? []
    try clones.program.git(["fetch", "-q"], in: clones.other)
    try clones.merge(way + ["origin/main"])
    _ = try clones.there("status")
    let comment: Comment = "seed \(seed), \(way[0])"
    let repair = try clones.program.run(["--store", clones.other, "check", "--repair", "--decrypt"])
    #expect(repair.status == 0, comment)
    try expectAll(sides, clones.other, clones, comment)
    // The other clone has the same result.
    _ = try clones.there("sync")
    try clones.here("sync")
    for store in [clones.program.store, clones.other] {
      #expect(try clones.program.succeed(["--store", store, "check", "--decrypt"]) == "", comment)
      #expect(try clones.program.git(["status", "--porcelain"], in: store) == "", comment)
    }
    try expectAll(sides, clones.program.store, clones, comment)
  }

  private func change(
    _ side: Int, _ step: Int, _ sides: inout [Side], _ clones: PlainGitTests.Clones,
    _ generator: inout SeededGenerator
  ) throws {
    guard let item = Self.items.randomElement(using: &generator), !sides[side].deleted.contains(item),
      let name = sides[side].names[item]
    else { return }
    func run(_ words: [String], _ input: String = "") throws {
      let store = side == 0 ? clones.program.store : clones.other
      try clones.program.succeed(["--store", store] + words, input: input)
    }
    let value = "\(side)-\(step)"
    switch Int.random(in: 0..<8, using: &generator) {
    case 0...2:
      try run(["set", name, "--secret"], value)
      sides[side].secrets[item] = value
    case 3...4:
      try run(["set", name, "-l", value])
      sides[side].labels[item] = value
    case 5...6:
      try run(["mv", name, "r\(value).example/me"])
      sides[side].names[item] = "r\(value).example/me"
    default:
      try run(["rm", name])
      sides[side].deleted.insert(item)
      (sides[side].secrets[item], sides[side].labels[item]) = (nil, nil)
    }
  }

  private func expectAll(
    _ sides: [Side], _ store: String, _ clones: PlainGitTests.Clones, _ comment: Comment
  ) throws {
    let lines = try clones.program.succeed([
      "--store", store, "find", "--json", "--class", "internet-password",
    ])
    .split(separator: "\n")
    var secrets: Set<String> = []
    var labels: Set<String> = []
    for line in lines {
      let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      guard let reference = record?["reference"] as? String else { continue }
      secrets.insert(try clones.program.succeed(["--store", store, "get", reference]))
      if let label = record?["label"] as? String { labels.insert(label) }
    }
    for copy in try clones.copies(in: store) {
      secrets.insert(copy.secret)
      if let label = copy.label { labels.insert(label) }
    }
    for side in sides {
      for secret in side.secrets.values { #expect(secrets.contains(secret), "\(comment): secret \(secret)") }
      for label in side.labels.values { #expect(labels.contains(label), "\(comment): label \(label)") }
    }
  }
}
