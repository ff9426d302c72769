import KeyringModel
import Secrets
import Testing
@testable import Interchange
@testable import KeytreeCLI

@Suite("Names of imported fields", .serialized)
struct FieldNamingTests {
  static let labels = [
    "PIN", "PIN code", "=Formula", "", "é", "日本", "con", "NUL", "otp", "OTP", "note", "Note 2", "otp-2",
    "a--b", "-x-",
    "file scan 2020.PDF", String(repeating: "x", count: 90), String(repeating: "x ", count: 90), "url-2",
    "a-100",
  ]

  @Test(
    "the name of an imported field is readable",
    arguments: [
      ("PIN", "pin"), ("PIN code", "pin-code"), ("=Formula", "formula"), ("é", "field"), ("", "field"),
      ("con", "field-con"), ("file scan 2020.PDF", "file-scan-2020-pdf"), ("-x-", "x"), ("url-2", "url-2"),
    ])
  func readable(label: String, name: String) {
    #expect(FieldNaming.name(for: label) == name)
  }

  @Test(
    "the number of a field is at the end of its name",
    arguments: [
      ("url", "url", 1), ("url-1", "url-1", 1), ("url-2", "url", 2), ("url-02", "url-02", 1),
      ("url-99", "url", 99),
      ("url-100", "url-100", 1), ("-5", "-5", 1), ("a--5", "a-", 5), ("a-+5", "a-+5", 1), ("a-", "a-", 1),
    ])
  func parts(name: String, base: String, number: Int) {
    #expect(FieldNaming.parts(of: name) == (base, number))
  }

  @Test("the name of an imported field is valid, whatever the label and the number are", arguments: labels)
  func valid(label: String) {
    let names = Array(FieldNaming.candidates(ImportPart.column(label).field.name))
    #expect(names.allSatisfy { FieldName.isValid($0) } && Set(names).count == names.count)
  }

  @Test("the label can be recovered from the field", arguments: labels)
  func back(label: String) {
    let field = ImportPart.column(label).field
    for name in FieldNaming.candidates(field.name).prefix(3) {
      // A name that equals its label is stored without one. With a number it is a different name.
      let expected = field.label == nil ? name : label
      #expect(ImportPart(field: name, label: field.label) == .column(expected))
    }
  }

  @Test("only a seed is named `otp`, and only a note is named `note`")
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

  @Test("the second of two fields with the same label gets a number, and both keep the label")
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
