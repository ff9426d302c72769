import Arguments
import CommandSupport
import Foundation
import KeyringModel
import Secrets
import Testing

@testable import Interchange
@testable import KeytreeCLI

/// Tests details of imported files that the samples do not show.
@Suite(.serialized) struct ImportDetailTests {
  private let world: CommandFixture

  init() throws { world = try CommandFixture.withoutGnuPG() }

  /// Imports a file twice; the second time adds nothing.
  private func take(_ file: String) throws {
    let first = world.run("import", "-", "--accept-loss", input: Array(file.utf8))
    #expect(first.code == .done, "\(first.text) \(first.diagnosticsText)")
    let again = world.run("import", "-", "--accept-loss", input: Array(file.utf8))
    #expect(again.text.contains("0 added"), "\(again.text)")
  }

  /// Returns the values of all fields with a label, sorted.
  private func values(of label: String) throws -> [String] {
    let path = "\(world.folder.path)/export.json"
    #expect(world.run("export", "json", Word(path), "--plaintext").code == .done)
    let bytes = SecretBytes(copying: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    return try KeytreeImport.plan(bytes).summary.compactMap { line in
      line.range(of: " \(label): ").map { String(line[$0.upperBound...]) }
    }.sorted()
  }

  @Test func `a login of NordPass is found by each of its URLs`() throws {
    try take(
      "name,url,additional_urls,username,password,note,cardholdername,cardnumber,cvc,pin,expirydate,zipcode,folder,"
        + "full_name,phone_number,email,address1,address2,city,country,state,type,custom_fields\n"
        + "A,https://a.example,\"[\"\"https://b.example/x\"\",\"\"https://c.example\"\"]\",zoe,pw-1,,,,,,,,,,,,,,,,,"
        + "password,\n")
    for host in ["a.example", "b.example", "c.example"] {
      #expect(world.run("find", Word(host)).text.split(separator: "\n").count == 1, "\(host)")
    }
    #expect(world.run("get", "a.example/zoe").text == "pw-1")
  }

  @Test(
    arguments: [
      ("HmacOtp-Secret", "Hello!", "JBSWY3DPEE"),
      ("HmacOtp-Secret-Hex", "48656c6c6f21deadbeef", "JBSWY3DPEHPK3PXP"),
      ("HmacOtp-Secret-Base64", "SGVsbG8h3q2+7w==", "JBSWY3DPEHPK3PXP"),
      ("HmacOtp-Secret-Base32", "JBSWY3DPEHPK3PXP", "JBSWY3DPEHPK3PXP"),
    ])
  func `a counter of KeePass has its seed in each encoding`(name: String, value: String, seed: String) throws
  {
    let strings = [("Title", "hotp"), ("Password", "p"), (name, value), ("HmacOtp-Counter", "5")]
    try take(ImportSample.keePass([strings]))
    #expect(try values(of: "one-time password") == ["otpauth://hotp/?secret=\(seed)&counter=5"])
  }

  @Test func `entries of KeePass with one title in two groups stay two, and two equal ones are one`() throws {
    func group(_ name: String, _ notes: String) -> String {
      "<Group><Name>\(name)</Name><Entry><String><Key>Title</Key><Value>Alarm</Value></String>"
        + "<String><Key>Password</Key><Value></Value></String>"
        + "<String><Key>Notes</Key><Value>\(notes)</Value></String></Entry></Group>"
    }
    let groups = [group("House", "1"), group("Office", "2"), group("Office", "2"), group("Office", "1")]
    try take(
      "<KeePassFile><Meta/><Root><Group><Name>DB</Name>\(groups.joined())</Group></Root></KeePassFile>")
    #expect(try values(of: "note") == ["1", "1", "2"])
  }

  @Test func `rows without a name and a password stay apart if their notes differ`() throws {
    try take("name,url,username,password,note\n,,,,first\n,,,,second\n,,,,first\n")
    #expect(try values(of: "note") == ["first", "second"])
  }

  @Test func `export bitwarden writes what export json writes with this format`() throws {
    try take("name,url,username,password,note\nA,https://a.example,zoe,pw-1,x\n")
    let (short, long) = ("\(world.folder.path)/short.json", "\(world.folder.path)/long.json")
    #expect(world.run("export", "bitwarden", Word(short), "--plaintext").code == .done)
    #expect(world.run("export", "json", Word(long), "--plaintext", "--format", "bitwarden").code == .done)
    let text = try String(contentsOfFile: short, encoding: .utf8)
    #expect(try text == String(contentsOfFile: long, encoding: .utf8) && text.contains("\"pw-1\""))
  }
}
