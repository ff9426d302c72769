import Encoding
import Foundation
import KeyringModel
import OpenPGP
import TestSupport
import Testing

/// The store of the worked example in StoreFormat, `fixtures/stores/example`.
enum ExampleStore {
  static let folder = MarkdownDocument.root.appendingPathComponent("fixtures/stores/example")
  static let encryptedFile = "items/internet-password/github.com/alice.gpg"
  static let recordFile = "items/internet-password/github.com/alice.json"
  static let shardFile = "index/33.jsonl"

  /// Returns the paths of its files.
  static func paths() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
      var isFolder: ObjCBool = false
      _ = unsafe FileManager.default.fileExists(atPath: folder.path + "/" + path, isDirectory: &isFolder)
      return !isFolder.boolValue
    }
  }

  static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appendingPathComponent(path)))
  }

  /// Returns the code blocks of the page that are generated from the files, by the names in their comments.
  static func blocks() throws -> [(name: String, text: String)] {
    let files = [
      "policy.json", shardFile, recordFile, "items/.gpg-id", ".gitattributes", ".gitignore",
    ]
    var blocks = try files.map { ($0, try bytes($0)) }
    let record = try RecordFile(parsing: try bytes(recordFile))
    blocks += [
      ("primary key", record.record.primaryKey.canonicalJSON),
      ("path", Array(record.record.path.text.utf8)),
      ("leaf", Array(MerkleTree.leaf(of: record.line).base64url.utf8)),
      ("statement", try #require(SignedMessage(record.proof.signature)).content),
    ]
    let policyBytes = try bytes("policy.json")
    let policy = try Policy.parse(policyBytes)
    let keys = try policy.people.keys.map { ($0, try bytes("keys/\($0.text).asc")) }
    let pin = Pin(policy: policy, bytes: policyBytes, keys: Dictionary(uniqueKeysWithValues: keys))
    blocks.append(("pin.json", pin.encode()))
    return blocks.map { name, bytes in
      // The page shows a file without its final line feed.
      (name, String(decoding: bytes.last == 10 ? Array(bytes.dropLast()) : bytes, as: UTF8.self))
    }
  }
}
