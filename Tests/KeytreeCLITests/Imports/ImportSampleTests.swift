import Arguments
import CommandSupport
import Foundation
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import Interchange
@testable import KeytreeCLI

/// Files that were once read wrongly, in the structure that the programs write, with invented data.
@Suite("Importing samples of other programs' files", .serialized)
struct ImportSampleTests {
  private static let csv: [ImportSample] = [
    ImportSample(
      "an empty column does not hide the URL in the column beside it",
      ",ainfo,autosubmit,Notes,Password,scope,tags,Title,Type,URL,Username,uuid,website\n"
        + ",zoe,Default,,pw-1,Default,Home,A,Login,https://a.example/login,zoe,U1,\n",
      [
        "a.example/zoe secret: pw-1", "a.example/zoe/ainfo ainfo: zoe",
        "a.example/zoe/autosubmit autosubmit: Default",
        "a.example/zoe/scope scope: Default",
      ]),
    ImportSample(
      "both columns for URLs of a 1Password file are URLs",
      "title,website,username,password,notes,type,url\nA,,zoe,pw-1,,Login,https://a.example\n"
        + "B,https://b.example,bob,pw-2,,Login,\nC,https://c.example,carl,pw-3,,Login,https://c.example\n",
      ["a.example/zoe secret: pw-1", "b.example/bob secret: pw-2", "c.example/carl secret: pw-3"]),
    ImportSample(
      "a carriage return alone ends the rows of a file without line feeds",
      "name,url,username,password,note\rA,https://a.example,zoe,pw-1,\"x\ny\"\rB,https://b.example,bob,pw-2,\r",
      ["a.example/zoe secret: pw-1", "a.example/zoe/note note: x\ny", "b.example/bob secret: pw-2"]),
    ImportSample(
      "rows of LastPass that are empty or name a group are no logins",
      "url,username,password,totp,extra,name,grouping,fav\nhttps://a.example,zoe,pw-1,,,A,Personal,0\n,,,,,,,0\n"
        + "http://group,,,,,,Old\\Folder,0\nhttp://group,,,,,Folder,Folder,0\n,,,,,,Only a folder,1\n",
      told: ["4 skipped"], ["a.example/zoe secret: pw-1"]),
    ImportSample(
      "rows of any program with nothing but a folder, dates or a type are no logins",
      "Group,Title,Username,Password,URL,Notes,TOTP,Icon,Last Modified,Created\n"
        + "Root/A,A,zoe,pw-1,,,,0,2024-01-01T00:00:00Z,2024-01-01T00:00:00Z\n"
        + "Root/B,,,,,,,48,2024-01-01T00:00:00Z,2024-01-01T00:00:00Z\n",
      told: ["1 skipped"], ["A/zoe secret: pw-1"]),
    ImportSample(
      "a short row is named, and the rest is imported if the loss is accepted",
      "name,url,username,password\nA,https://a.example,zoe,pw-1\nB,https://b.example\nC,https://c.example,carl,pw-3\n",
      told: ["row 3: NOT imported: it has 2 fields, but the header has 4"],
      ["a.example/zoe secret: pw-1", "c.example/carl secret: pw-3"]),
    ImportSample(
      "a short row refuses the file if the loss is not accepted",
      Array("name,url,username,password\nA,https://a.example,zoe,pw-1\nB,https://b.example\n".utf8),
      options: [],
      .refusal(["row 3: NOT imported", "`--accept-loss` imports the rest"])),
    ImportSample(
      "NordPass may have further URLs and custom fields",
      "name,url,additional_urls,username,password,note,cardholdername,cardnumber,cvc,pin,expirydate,zipcode,folder,"
        + "full_name,phone_number,email,address1,address2,city,country,state,type,custom_fields\n"
        + "A,https://a.example,\"[\"\"https://b.example/x\"\",\"\"https://c.example\"\"]\",zoe,pw-1,,,,,,,,,,,,,,,,,"
        + "password,\"[{\"\"label\"\":\"\"PIN\"\",\"\"type\"\":\"\"hidden\"\",\"\"value\"\":\"\"1234\"\"},"
        + "{\"\"label\"\":\"\"Colour\"\",\"\"type\"\":\"\"text\"\",\"\"value\"\":\"\"red\"\"}]\"\n",
      [
        "a.example/zoe secret: pw-1", "a.example/zoe/pin PIN: 1234",
        "a.example/zoe/colour Colour: red",
      ]),
    ImportSample(
      "a file in Latin-1 is imported byte for byte, and the messages say so",
      Array("name,url,username,password\nA,https://a.example,zoe,p".utf8) + [0xE9]
        + Array("1\n".utf8),
      told: ["the secret is not UTF-8", "--encoding windows-1252`"],
      .items(["a.example/zoe secret: p\u{FFFD}1"])
    ),
    ImportSample(
      "`--encoding latin1` converts a file",
      Array("name,url,username,password\nA,https://a.example,zo".utf8) + [0xEB] + Array(",p".utf8)
        + [0xE9]
        + Array("1\n".utf8),
      options: ["csv", "--encoding", "latin1"], .items(["a.example/zoë secret: pé1"])),
    ImportSample(
      "`--encoding windows-1252` converts a file",
      Array("name,url,username,password\nA,https://a.example,zoe,p".utf8) + [0x80]
        + Array("1\n".utf8),
      options: ["csv", "--encoding", "windows-1252"], .items(["a.example/zoe secret: p€1"])),
    ImportSample(
      "a file in UTF-16 is refused, and the messages say how to convert it",
      [0xFF, 0xFE] + "name,url,username,password\r\n".utf16.flatMap { [UInt8($0), 0] }, options: [],
      .refusal(["it is not text in UTF-8", "--encoding"])),
    ImportSample(
      "`--encoding utf-16` converts a file with characters outside the basic plane",
      [0xFF, 0xFE]
        + "name,url,username,password\r\nA,https://a.example,zoe,p😀é\r\n".utf16.flatMap {
          [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)]
        },
      options: ["csv", "--encoding", "utf-16"], .items(["a.example/zoe secret: p😀é"])),
  ]

  private static let json: [ImportSample] = [
    ImportSample(
      "a file of Enpass is not taken for one of Bitwarden",
      #"{"folders":[{"title":"Bank","uuid":"f1","parent_uuid":"","icon":"1","updated_at":1}],"items":["#
        + #"{"category":"login","favorite":1,"fields":[{"label":"Username","order":1,"sensitive":0,"type":"username","#
        + #""uid":10,"value":"zoe"},{"label":"Password","sensitive":1,"type":"password","uid":11,"value":"pw-1","#
        + #""history":[{"updated_at":1,"value":"old-1"}]},"#
        + #"{"label":"Website","sensitive":0,"type":"url","uid":13,"value":"https://a.example"},"#
        + #"{"label":"Gone","deleted":1,"sensitive":0,"type":"text","uid":14,"value":"gone"},"#
        + #"{"label":"PIN","sensitive":1,"type":"pin","uid":15,"value":"1234"},"#
        + #"{"label":"One-time code","sensitive":0,"type":"totp","uid":16,"value":"JBSWY3DPEHPK3PXP"}],"#
        + #""folders":["f1"],"note":"a note","title":"A","uuid":"i1"},"#
        + #"{"category":"note","fields":[],"note":"only text","title":"N","uuid":"i2"},"#
        + #"{"category":"login","trashed":1,"fields":[],"note":"x","title":"T","uuid":"i3"},"#
        + #"{"category":"creditcard","fields":[{"label":"Number","type":"ccNumber","sensitive":1,"value":"4111"},"#
        + #"{"label":"CVC","type":"ccCvc","sensitive":1,"value":"123"}],"note":"","title":"Card","uuid":"i4","#
        + #""attachments":[{"name":"a.txt","kind":"text/plain","data":"aGk=","uuid":"x1"}]}]}"#,
      told: ["2 skipped"],
      [
        "a.example/zoe secret: pw-1", "a.example/zoe/pin PIN: 1234",
        "a.example/zoe/note note: a note",
        "a.example/zoe/otp one-time password: JBSWY3DPEHPK3PXP",
        #"a.example/zoe/password-history password history: [{"updated_at":1,"value":"old-1"}]"#,
        "N/ secret: only text", "Card/ secret: 4111", "Card//cvc CVC: 123",
        "Card//file-a-txt file a.txt: hi",
      ]),
    ImportSample(
      "an unknown JSON document with `items` is refused",
      Array(#"{"items":[{"name":"a","password":"pw-1"},{"name":"b","password":"pw-2"}]}"#.utf8),
      .refusal(["cannot detect the format"])),
    ImportSample(
      "an unknown JSON document whose `items` have numbers for their types is refused",
      Array(
        #"{"items":[{"type":7,"title":"a","password":"pw-1"},{"type":3,"title":"b","secret":"pw-2"}]}"#.utf8),
      .refusal(["cannot detect the format"])),
    ImportSample(
      "an unknown JSON document is not read as Bitwarden's even if the user says so",
      Array(#"{"items":[{"name":"a","login":{"password":"pw-1"}}]}"#.utf8), options: ["bitwarden"],
      .refusal(["it is not an export of Bitwarden"])),
    ImportSample(
      "an entry of Bitwarden without a type is a loss",
      #"{"encrypted":false,"folders":[],"items":[{"type":1,"name":"A","login":{"username":"zoe","password":"pw-1"}},"#
        + #"{"name":"B","data":"x"}]}"#,
      told: ["entry 2 (B): NOT imported"], ["A/zoe secret: pw-1"]),
    ImportSample(
      "newer types of Bitwarden keep their data in the secret",
      #"{"encrypted":false,"items":[{"type":6,"name":"Bank","bankAccount":{"bankName":"B","accountNumber":"123"},"#
        + #""login":null},{"type":8,"name":"Pass","passport":{"passportNumber":"C0"}}]}"#,
      ["Bank/ secret: bankName: B\naccountNumber: 123", "Pass/ secret: passportNumber: C0"]),
    ImportSample(
      "each passkey of Bitwarden is a loss that is named and counted",
      Array(
        (#"{"encrypted":false,"items":[{"type":1,"name":"A","login":{"username":"zoe","password":"pw-1","#
          + #""fido2Credentials":[{"rpId":"a.example"},{"rpId":"b.example"}]}}]}"#).utf8),
      options: [],
      .refusal([
        "A), passkey: NOT imported: passkeys are not supported yet",
        "2 entries would be lost, 2 of them passkeys",
      ])
    ),
    ImportSample(
      "entries of Bitwarden without a password are one only if all their parts are the same",
      #"{"encrypted":false,"items":[{"type":1,"name":"Alarm","notes":"code 1","login":{}},"#
        + #"{"type":1,"name":"Alarm","notes":"code 2","login":{}},{"type":1,"name":"Alarm","notes":"code 2","login":{}}]}"#,
      told: ["2 duplicates"],
      [
        "Alarm/ secret: ", "Alarm//note note: code 1", "Alarm/(2) secret: ",
        "Alarm/(2)/note note: code 2",
      ]),
  ]

  private static let keePass: [ImportSample] = [
    ImportSample(
      "two entries of KeePass with one title and no password stay two",
      ImportSample.keePass([
        [("Title", "Alarm"), ("Password", ""), ("Notes", "code 1111"), ("pin", "11")],
        [("Title", "Alarm"), ("Password", ""), ("Notes", "code 2222"), ("pin", "22")],
      ]),
      [
        "Alarm/ secret: ", "Alarm//note note: code 1111", "Alarm//pin pin: 11",
        "Alarm/(2) secret: ",
        "Alarm/(2)/note note: code 2222", "Alarm/(2)/pin pin: 22",
      ]),
    ImportSample(
      "seeds of KeeOtp are read whatever the order, the escapes and the encoding of the key",
      ImportSample.keePass([
        [("Title", "A"), ("Password", "p"), ("otp", "key=HXDMVJECJJWSRBY%3d")],
        [
          ("Title", "B"), ("Password", "p"),
          ("otp", "size=8&amp;step=25&amp;key=HXDMVJECJJWSRBY%3D&amp;otpHashMode=Sha256"),
        ],
        [
          ("Title", "C"), ("Password", "p"),
          ("otp", "Type=Hotp&amp;counter=5&amp;key=JBSWY3DPEHPK3PXP"),
        ],
        [("Title", "D"), ("Password", "p"), ("otp", "key=48656c6c6f21deadbeef&amp;encoding=Hex")],
        [
          ("Title", "E"), ("Password", "p"),
          ("otp", "key=SGVsbG8h3q2%2B7w%3D%3D&amp;encoding=Base64&amp;size=6"),
        ],
        [("Title", "F"), ("Password", "p"), ("otp", "key=Hello!&amp;encoding=Utf8&amp;type=TOTP")],
        [("Title", "G"), ("Password", "p"), ("otp", "key=JBSWY3DPEHPK3PXP&amp;type=Steam")],
      ]),
      [
        "A/ secret: p", "A//otp one-time password: HXDMVJECJJWSRBY", "B/ secret: p",
        "B//otp one-time password: otpauth://totp/?secret=HXDMVJECJJWSRBY&period=25&digits=8&algorithm=SHA256",
        "C/ secret: p",
        "C//otp one-time password: otpauth://hotp/?secret=JBSWY3DPEHPK3PXP&counter=5",
        "D/ secret: p", "D//otp one-time password: JBSWY3DPEHPK3PXP", "E/ secret: p",
        "E//otp one-time password: JBSWY3DPEHPK3PXP", "F/ secret: p",
        "F//otp one-time password: JBSWY3DPEE",
        "G/ secret: p",
        "G//otp one-time password: otpauth://totp/?secret=JBSWY3DPEHPK3PXP&encoder=steam",
      ]),
    ImportSample(
      "KeePass's own strings for one-time passwords become seeds in every encoding",
      ImportSample.keePass([
        [("Title", "hex"), ("Password", "p"), ("TimeOtp-Secret-Hex", "48656c6c6f21deadbeef")],
        [
          ("Title", "b64"), ("Password", "p"), ("TimeOtp-Secret-Base64", "SGVsbG8h3q2+7w=="),
          ("TimeOtp-Length", "8"),
        ],
        [("Title", "utf"), ("Password", "p"), ("TimeOtp-Secret", "Hello!")],
        [("Title", "b32"), ("Password", "p"), ("TimeOtp-Secret-Base32", "JBSWY3DPEHPK3PXP")],
        [
          ("Title", "hotp"), ("Password", "p"), ("HmacOtp-Secret-Base32", "JBSWY3DPEHPK3PXP"),
          ("HmacOtp-Counter", "5"),
        ],
        [
          ("Title", "tray"), ("Password", "p"), ("TOTP Seed", "JBSW Y3DP EHPK 3PXP"),
          ("TOTP Settings", "30;S"),
        ],
      ]),
      [
        "hex/ secret: p", "hex//otp one-time password: JBSWY3DPEHPK3PXP", "b64/ secret: p",
        "b64//otp one-time password: otpauth://totp/?secret=JBSWY3DPEHPK3PXP&digits=8",
        "utf/ secret: p",
        "utf//otp one-time password: JBSWY3DPEE", "b32/ secret: p",
        "b32//otp one-time password: JBSWY3DPEHPK3PXP",
        "hotp/ secret: p",
        "hotp//otp one-time password: otpauth://hotp/?secret=JBSWY3DPEHPK3PXP&counter=5",
        "tray/ secret: p",
        "tray//otp one-time password: otpauth://totp/?secret=JBSWY3DPEHPK3PXP&encoder=steam",
      ]),
    ImportSample(
      "a wrong seed of KeePass stays a field, and is named",
      ImportSample.keePass([
        [("Title", "hex"), ("Password", "p"), ("TimeOtp-Secret-Hex", "xyz")],
        [("Title", "keeotp"), ("Password", "p"), ("otp", "key=JBSWY3DPEHPK3PXP&amp;size=many")],
      ]),
      told: ["TimeOtp-Secret-Hex is not a usable seed", "otp is not a usable seed"],
      [
        "hex/ secret: p", "hex//timeotp-secret-hex TimeOtp-Secret-Hex: xyz", "keeotp/ secret: p",
        "keeotp//otp-2 otp: key=JBSWY3DPEHPK3PXP&size=many",
      ]),
    ImportSample(
      "a passkey of KeePassXC is a loss",
      ImportSample.keePass([
        [
          ("Title", "A"), ("Password", "p"), ("KPEX_PASSKEY_CREDENTIAL_ID", "abc"),
          ("KPEX_PASSKEY_USERNAME", "zoe"),
          ("KPEX_PASSKEY_PRIVATE_KEY_PEM", "-----BEGIN PRIVATE KEY-----"),
          ("KPEX_PASSKEY_RELYING_PARTY", "a.example"),
        ]
      ]),
      told: ["entry 1 (A), passkey: NOT imported: passkeys are not supported yet"], ["A/ secret: p"]
    ),
  ]

  private static let others: [ImportSample] = [
    ImportSample(
      "an empty macro of netrc ends at the first empty line",
      "macdef init\n\nmachine a.example\n\tlogin zoe\n\tpassword pw-1\nmacdef m\n\tbin\n \nmachine b.example login bob password pw-2\n",
      told: ["line 1, macdef: NOT imported"],
      ["a.example/zoe secret: pw-1", "b.example/bob secret: pw-2"]),
    ImportSample(
      "pictures of a vault and an account of 1Password are no loss", fixture("pictures.1pux"),
      options: [],
      .items(["a.example/zoe secret: pw-1"])),
    ImportSample(
      "an archived login of 1Password stays apart from the active one", fixture("archived.1pux"),
      .items(["a.example/zoe secret: pw-1", "a.example/zoe secret: pw-1"])),
    ImportSample(
      "fields of 1Password have the value that the user sees, and the main value is the secret",
      fixture("fields.1pux"),
      told: ["entry 5 (Keyed), passkey: NOT imported: passkeys are not supported yet"],
      .items([
        "a.example/ secret: pw-1", "a.example//mail mail: zoe@example.org",
        "a.example//other other: zoe@example.net",
        "a.example//other-provider other.provider: example", "API/bot secret: token-1",
        "API/bot/hostname hostname: api.example.org", "Wallet/ secret: seven words",
        "Router/ secret: wlan-1",
        "b.example/zoe secret: ",
      ])),
  ]

  private static func fixture(_ name: String) -> [UInt8] {
    do {
      return try ImportFormat.file("imports/\(name)")
    } catch {
      Issue.record("\(error)")
      return []
    }
  }

  @Test("a sample is read correctly", arguments: csv + json + keePass + others)
  func sample(_ sample: ImportSample) throws { try sample.check() }

  @Test(
    "a file of a program that cannot be imported is named with the export to make",
    arguments: [
      ([0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5, 0, 0], "KeePass", "XML"),
      ([0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5, 0, 0], "KeePass", "CSV"),
      (Array("%PDF-1.7\n".utf8), "PDF", "CSV"), (Array("SQLite format 3\0".utf8), "SQLite", "CSV"),
      (Array("PWS3".utf8) + [1, 2], "Password Safe", "KeePass"),
      (Array("age-encryption.org/v1\n".utf8), "age", "age -d"),
      (Array("-----BEGIN PGP MESSAGE-----\n\nhQ==\n".utf8), "GnuPG", "gpg -d"),
      ([0x85, 0x01, 0x0C, 0x03, 1, 2], "GnuPG", "gpg -d"),
      (Array("PK\u{3}\u{4}..[Content_Types].xml..xl/workbook.xml".utf8), "spreadsheet", "CSV"),
      (Array("PK\u{3}\u{4}....data.json".utf8), "ZIP", "nzip"),
      (
        Array("{\"uuid\":\"1\"}\n***5642bee8-a5ff-11dc-8314-0800200c9a66***\n".utf8), "1PIF", "1PUX"
      ),
      ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], "spreadsheet", "CSV"),
      (Array("kych".utf8) + [0, 1, 0, 0], "keychain", "dump-keychain"),
    ])
  func known(file: [UInt8], name: String, advice: String) throws {
    let world = try CommandFixture.withoutGnuPG()
    let path = "\(world.folder.path)/file"
    try Data(file).write(to: URL(fileURLWithPath: path))
    for command in [
      ["import"], ["import", "csv"], ["import", "bitwarden"], ["import", "keepass-xml"],
    ] as [[Word]] {
      let result = world.run(command + [Word(path)])
      #expect(result.code == .failure)
      #expect(
        result.diagnosticsText.contains(name) && result.diagnosticsText.contains(advice),
        "\(result.diagnosticsText)")
    }
  }

  @Test(
    "a folder of 1Password is named with the export to make",
    arguments: ["a.agilekeychain", "a.opvault"])
  func folder(name: String) throws {
    let world = try CommandFixture.withoutGnuPG()
    let path = "\(world.folder.path)/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let result = world.run("import", Word(path))
    #expect(result.code == .failure)
    #expect(result.diagnosticsText.contains("1PUX"), "\(result.diagnosticsText)")
  }

  @Test(
    "a file that is no JSON is not called invalid JSON",
    arguments: ["[Section]\nkey=value\n", "{{template}}\n"])
  func noJSON(text: String) throws {
    let world = try CommandFixture.withoutGnuPG()
    let path = "\(world.folder.path)/file"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let detected = world.run("import", Word(path))
    #expect(
      detected.code == .usage && detected.diagnosticsText.contains("cannot detect the format"))
    let named = world.run("import", "bitwarden", Word(path))
    #expect(
      named.code == .failure && named.diagnosticsText.contains("it is not JSON"),
      "\(named.diagnosticsText)")
  }
}
