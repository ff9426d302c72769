import KeyringModel
import Secrets
import Testing
@testable import Interchange
@testable import KeytreeCLI

@Suite("Names of imported fields")
struct FieldNamingTests {
  static let labels = [
    "PIN", "PIN code", "=Formula", "", "é", "日本", "con", "NUL", "otp", "OTP", "note", "Note 2", "otp-2",
    "a--b", "-x-",
    "file scan 2020.PDF", String(repeating: "x", count: 90), String(repeating: "x ", count: 90), "url-2",
    "a-100",
  ]

  @Test(
    "are readable",
    arguments: [
      ("PIN", "pin"), ("PIN code", "pin-code"), ("=Formula", "formula"), ("é", "field"), ("", "field"),
      ("con", "field-con"), ("file scan 2020.PDF", "file-scan-2020-pdf"), ("-x-", "x"), ("url-2", "url-2"),
    ])
  func readable(label: String, name: String) {
    #expect(FieldNaming.name(for: label) == name)
  }

  @Test("are valid, whatever the label and the number are", arguments: labels)
  func valid(label: String) {
    let names = Array(FieldNaming.candidates(ImportPart.column(label).field.name))
    #expect(names.allSatisfy { FieldName.isValid($0) } && Set(names).count == names.count)
  }

  @Test("lead back to the label", arguments: labels)
  func back(label: String) {
    let field = ImportPart.column(label).field
    for name in FieldNaming.candidates(field.name).prefix(3) {
      // A name that is shown by itself has no label; with a number it is another name.
      let expected = field.label == nil ? name : label
      #expect(ImportPart(field: name, label: field.label) == .column(expected))
    }
  }

  @Test("only a seed is `otp` and only a note is `note`")
  func reserved() {
    for label in Self.labels {
      #expect(!["otp", "note"].contains(ImportPart.column(label).field.name), "\(label)")
    }
    for number in ["", "-2", "-7"] {
      #expect(ImportPart(field: "otp\(number)", label: nil) == .oneTimePassword)
      #expect(ImportPart(field: "otp\(number)", label: "GitHub: alice") == .oneTimePassword)
      #expect(ImportPart(field: "note\(number)", label: nil) == .note)
    }
  }

  @Test("of two fields with one label the second has a number, and both have the label")
  func numbered() {
    var login = PlannedLogin(
      PlannedItem(
        itemClass: .genericPassword, attributes: [.service: "s"], secret: SecretSlice(text: ""),
        source: .row(2),
        part: .secret))
    for _ in 0..<3 { login.add(.column("PIN code"), SecretSlice(text: "1")) }
    #expect(login.items.compactMap(\.field) == ["pin-code", "pin-code-2", "pin-code-3"])
    #expect(login.items.dropFirst().allSatisfy { $0.text(.label) == "PIN code" && $0.text(.service) == "s" })
  }
}
