import Foundation
import Keyring
import KeyringModel
import Secrets
@testable import Interchange
@testable import KeytreeCLI

/// The files that the importers are tested with.
enum ImportFixtures {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../fixtures").standardizedFileURL

  static func csv(_ name: String) throws -> SecretBytes {
    SecretBytes(copying: try Data(contentsOf: folder.appending(path: "csv/\(name)")))
  }

  /// The counts of `chrome-5000.csv`, from the table in the README in its folder.
  static func counts() throws -> [String: Int] {
    let text = try String(contentsOf: folder.appending(path: "csv/README.md"), encoding: .utf8)
    let pairs = text.split(separator: "\n").compactMap { line -> (String, Int)? in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 2, let count = Int(cells[0]) else { return nil }
      return (cells[1], count)
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }
}

extension SecretSlice {
  init(text: String) { self.init(SecretBytes(copying: Array(text.utf8))) }

  /// The bytes as text, for comparisons in tests only.
  var text: String { String(decoding: publicBytes(), as: UTF8.self) }
}

extension PlannedItem {
  func text(_ name: AttributeName) -> String? {
    attributes[name]?.contentBytes.map { String(decoding: $0, as: UTF8.self) }
  }

  var path: ItemPath { ItemPath(PrimaryKey(itemClass: itemClass, attributes: attributes, group: "default")) }
}

/// A store with records and their secrets, as a merge reads it.
final class ImportedStore {
  private(set) var records: [PrimaryKey: (record: ItemRecord, secret: SecretSlice)] = [:]
  private(set) var secretsCompared = 0
  private var random = SystemRandomNumberGenerator()

  func merge(_ draft: ImportDraft, replaces: Bool = false) -> ImportPlan {
    let merge = ImportMerge<Never>(
      group: "default", replaces: replaces,
      existing: { self.records[$0]?.record },
      hasSecret: { record, secret in
        self.secretsCompared += 1
        return self.records[record.primaryKey]?.secret.isEqual(to: secret) == true
      })
    return merge.plan(draft)
  }

  /// Applies a plan to the store.
  ///
  /// - Precondition: The plan was made for the current state of this store.
  func apply(_ plan: ImportPlan) {
    for item in plan.additions {
      let now = Timestamp(microseconds: 0)
      let record = ItemRecord(
        itemClass: item.itemClass, id: ItemID(using: &random), revision: Revision(using: &random),
        created: now, modified: now, secretModified: now, group: "default",
        sealed: ContentDigest(of: []), attributes: item.attributes)
      precondition(records[record.primaryKey] == nil, "a plan never adds an item twice")
      records[record.primaryKey] = (record, item.secret)
    }
    for replacement in plan.replacements {
      records[replacement.record.primaryKey]?.record.attributes.merge(replacement.attributes)
      records[replacement.record.primaryKey]?.secret = replacement.secret
    }
    for completion in plan.completions {
      records[completion.record.primaryKey]?.record.attributes.merge(completion.attributes)
    }
  }
}
