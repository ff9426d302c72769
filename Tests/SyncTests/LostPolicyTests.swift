import Foundation
import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Pushes that take away the files without which no store can be read, or replace them by something else.
@Suite(.serialized, .slow) struct LostPolicyTests {
  /// A change of the files that the remote must keep.
  enum Loss: CaseIterable {
    case policy, signature, policyAndSignature, keys, everything
    case policyIsText, policyIsLink, policyIsFolder, policyIsLarge, signatureIsLink, signatureIsLarge

    /// The files that are refused.
    var refused: Set<String> {
      switch self {
      case .policy, .policyIsText, .policyIsLink, .policyIsLarge: ["policy.json"]
      case .policyIsFolder: ["policy.json", "policy.json/x"]
      case .signature, .signatureIsLink, .signatureIsLarge: ["policy.json.asc"]
      case .policyAndSignature: ["policy.json", "policy.json.asc"]
      case .keys: [LostPolicyTests.key]
      case .everything: ["policy.json", "policy.json.asc", LostPolicyTests.key]
      }
    }
  }

  private static let key = StoreLayout.keyFile(EngineDouble.fingerprint(1))

  private func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  private func make(_ loss: Loss, in clones: SyncClones) throws {
    let path = clones.paths[0]
    func remove(_ names: String...) throws {
      for name in names { _ = try clones.git(0, "rm", "-q", "-r", name) }
    }
    func link(_ name: String) throws {
      try remove(name)
      try FileManager.default.createSymbolicLink(atPath: "\(path)/\(name)", withDestinationPath: "README")
    }
    switch loss {
    case .policy: try remove("policy.json")
    case .signature: try remove("policy.json.asc")
    case .policyAndSignature: try remove("policy.json", "policy.json.asc")
    case .keys: try remove("keys")
    case .everything: try remove("policy.json", "policy.json.asc", "keys")
    case .policyIsText: try write("{}", "\(path)/policy.json")
    case .policyIsLink: try link("policy.json")
    case .policyIsFolder:
      try remove("policy.json")
      try FileManager.default.createDirectory(
        atPath: "\(path)/policy.json", withIntermediateDirectories: false)
      try write("x", "\(path)/policy.json/x")
    case .policyIsLarge:
      try write(String(repeating: "x", count: Policy.maximumSize + 1), "\(path)/policy.json")
    case .signatureIsLink: try link("policy.json.asc")
    case .signatureIsLarge: try write(String(repeating: "x", count: 1 << 20), "\(path)/policy.json.asc")
    }
    _ = try clones.git(0, "-c", "core.symlinks=true", "add", "--all")
    _ = try clones.git(0, "commit", "-q", "-m", "x")
    _ = try clones.git(0, "push", "-q", "origin", "main")
  }

  @Test(arguments: Loss.allCases, [false, true])
  func `a push without a usable policy does not stop sync, and the rest comes in`(
    _ loss: Loss, hasOwnChange: Bool
  ) throws {
    let clones = try SyncClones(3)
    try clones.add(0, "a.example", "me")
    try clones.world.commit()
    _ = try clones.git(0, "push", "-q", "origin", "main")
    let policy = try Data(contentsOf: URL(fileURLWithPath: "\(clones.paths[1])/policy.json"))
    try make(loss, in: clones)
    if hasOwnChange { try clones.add(1, "b.example", "me") }
    let report = try clones.sync(1)
    #expect(Set(report.refused.map(\.path)) == loss.refused)
    #expect(report.refused.allSatisfy { $0.committer == "P <p@example.org>" })
    #expect(!report.hasNewPolicy)
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(clones.paths[1])/policy.json")) == policy)
    #expect(try clones.item(1, "a.example").attributes[.account] == "me")
    try clones.expectSound(1)
    // The merge takes the change back for every other clone.
    #expect(try clones.sync(2).refused.isEmpty)
    #expect(try clones.find(2).count == (hasOwnChange ? 2 : 1))
    try clones.expectSound(2)
  }
}
