import CommandSupport
import Foundation
import KeyringModel
import Secrets
import TestSupport
import Testing
@testable import Interchange
@testable import KeytreeCLI

@Suite("Nothing of a source disappears", .serialized, .slow)
struct ImportLawTests {
  static func marks(_ kind: Regex<Substring>, in text: String) -> Set<String> {
    Set(text.matches(of: kind).map { String($0.output).lowercased() })
  }

  @Test("each value of a source is imported or is in the report", arguments: ImportFormat.allCases)
  func arrives(format: ImportFormat) throws {
    let text = try format.searchedText
    for showsUnknown in [false, true] {
      let draft = try format.plan(showsUnknown: showsUnknown)
      let stored = Self.marks(#/(?i)mk\d{3}/#, in: draft.everything)
      let told = Self.marks(#/(?i)mk\d{3}/#, in: draft.findings.map(\.line).joined(separator: "\n"))
      let wanted = Self.marks(#/(?i)mk\d{3}/#, in: text)
      #expect(!wanted.isEmpty)
      #expect(wanted.subtracting(stored).subtracting(told).sorted() == [])
      // Values that are reported as lost or skipped are not imported, and vice versa.
      #expect(Self.marks(#/lost\d{3}/#, in: draft.everything) == [])
      #expect(Self.marks(#/id\d{3}/#, in: draft.everything) == [])
      let hasLost = !Self.marks(#/lost\d{3}/#, in: text).isEmpty
      #expect(!hasLost || !draft.findings.isEmpty)
    }
  }

  @Test("a value that may be secret is not an attribute", arguments: ImportFormat.allCases)
  func sealed(format: ImportFormat) throws {
    for item in try format.plan().items {
      for (name, value) in item.attributes.entries {
        let text = value.contentBytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
        for mark in ["pw-", "token=", "?t=", "otpauth:", "note mk", "-----BEGIN", "4111"] {
          #expect(!text.contains(mark), "\(item.source.text): \(name)")
        }
        #expect(throws: Never.self) {
          try AttributeSchema.check(name: name, value: value, class: item.itemClass)
        }
      }
    }
  }

  @Test("a second import adds nothing", arguments: ImportFormat.allCases)
  func idempotent(format: ImportFormat) throws {
    let draft = try format.plan()
    let store = ImportedStore()
    store.apply(store.merge(draft))
    #expect(store.records.count == draft.items.count, "each item has a unique name")
    #expect(store.merge(draft).isEmpty)
  }

  @Test(
    "a field of any size is imported or is in the report",
    arguments: [ImportFormat.bitwarden, .keePass, .netrc, .keychain, .csvBitwarden])
  func large(format: ImportFormat) throws {
    for size in [1 << 20, (1 << 20) + 1, 3 << 20] {
      let huge = String(repeating: "h", count: size)
      let file =
        switch format {
        case .bitwarden: #"{"items":[{"type":1,"name":"n","notes":"\#(huge)","login":{"password":"p"}}]}"#
        case .keePass:
          "<KeePassFile><Root><Group><Entry><String><Key>Title</Key><Value>n</Value></String>"
            + "<String><Key>Password</Key><Value>p</Value></String><String><Key>Notes</Key><Value>\(huge)</Value>"
            + "</String></Entry></Group></Root></KeePassFile>"
        case .netrc: "machine n login p password q account \(huge)"
        case .keychain:
          "keychain: \"k\"\nclass: \"genp\"\nattributes:\n    \"svce\"<blob>=\"n\"\ndata:\n\"\(huge)\"\n"
        default: "folder,name,login_uri,login_username,login_password,notes\n,n,,,p,\(huge)\n"
        }
      let draft = try format.plan(Array(file.utf8))
      let kept = draft.items.contains { $0.secret.count == size }
      #expect(kept == (size <= 1 << 20))
      #expect(draft.findings.contains { $0.outcome == .lost(.tooLarge(limit: 1 << 20)) } == !kept)
    }
  }

  @Test("attributes that would make the line of an item too long become fields")
  func manyAttributes() throws {
    let fields = (0..<100).map {
      #"{"name":"field \#($0)","value":"\#(String(repeating: "v", count: 500))","type":0}"#
    }
    let file =
      #"{"items":[{"type":1,"name":"n","login":{"password":"p"},"fields":[\#(fields.joined(separator: ","))]}]}"#
    let draft = try BitwardenImport.plan(SecretBytes(text: file), showsUnknown: true)
    #expect(draft.items[0].attributes.sizeInLine <= 12 << 10 && draft.items[0].attributes.count <= 64)
    let shown = draft.items[0].attributes.names.count { $0.text.hasPrefix("field ") }
    #expect(shown > 10 && draft.items.count == 1 + 100 - shown)
  }
}
