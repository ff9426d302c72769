import Arguments
import TestSupport
import Testing

@testable import Interchange
@testable import KeytreeCLI

/// Formats and variants of formats, made from the documentation of the exporters: each is read correctly or refused.
@Suite("Importing variants of other programs' files", .serialized)
struct ImportVariantTests {
  private static func refused(_ name: String, _ text: String, _ words: String...) -> ImportSample {
    ImportSample(name, Array(text.utf8), .refusal(words))
  }

  private static let tables: [ImportSample] = [
    ImportSample(
      "Proton Pass before it had a column for the mail address",
      "type,name,url,username,password,note,totp,createTime,modifyTime\n"
        + "login,A,\"https://a.example,https://b.example\",zoe,pw-1,,,1700000000,1700000001\n"
        + "note,N,,,,only text,,1700000000,1700000001\nalias,Alias,,,,,,1700000000,1700000001\n",
      ["a.example/zoe secret: pw-1", "N/ secret: only text", "Alias/ secret: "]),
    ImportSample(
      "Buttercup, whose groups are rows",
      "!type,!group_id,!group_parent,!group_name,title,username,password,URL,id,PIN\n"
        + "group,g1,0,Main,,,,,,\nentry,g1,,Main,A,zoe,pw-1,https://a.example,e1,1234\n",
      told: ["1 skipped"], ["a.example/zoe secret: pw-1", "a.example/zoe/pin PIN: 1234"]),
    ImportSample(
      "Apple Passwords with a column for one-time passwords",
      "Title,URL,Username,Password,Notes,OTPAuth\na.example (zoe),https://a.example/,zoe,pw-1,,"
        + "otpauth://totp/a:zoe?secret=JBSWY3DPEHPK3PXP\n",
      [
        "a.example/zoe secret: pw-1",
        "a.example/zoe/otp one-time password: otpauth://totp/a:zoe?secret=JBSWY3DPEHPK3PXP",
      ]),
    ImportSample(
      "KeePass 2 and KeePassXC 2.4 without columns for one-time passwords and dates",
      "\"Group\",\"Title\",\"Username\",\"Password\",\"URL\",\"Notes\"\r\n"
        + "\"Root\",\"A\",\"zoe\",\"pw \"\"1\"\"\",\"https://a.example\",\"\"\r\n",
      ["a.example/zoe secret: pw \"1\""]),
    ImportSample(
      "Edge, saved by a spreadsheet program with semicolons and a byte order mark",
      "\u{FEFF}name;url;username;password;note\r\nA;https://a.example/;zoe;pw,1;\r\n",
      ["a.example/zoe secret: pw,1"]),
    ImportSample(
      "LastPass without columns for one-time passwords and favourites",
      "url,username,password,extra,name,grouping\nhttps://a.example,zoe,pw-1,,A,\nhttp://sn,,,\"text\nmore\",N,\n",
      ["a.example/zoe secret: pw-1", "N/ secret: text\nmore"]),
    ImportSample(
      "1Password 8 whose favourites and archive are empty",
      "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\nA,https://a.example,zoe,pw-1,,,,,\n",
      ["a.example/zoe secret: pw-1"]),
    ImportSample(
      "1Password 8 with an archived copy",
      "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes\nOld,https://a.example,zoe,pw-0,,false,true,,\n"
        + "A,https://a.example,zoe,pw-1,,false,false,,\n",
      ["a.example/zoe secret: pw-1", "a.example/zoe secret: pw-0"]),
    ImportSample(
      "Dashlane with one-time passwords",
      "username,username2,username3,title,password,note,url,category,otpUrl\n"
        + "zoe,zoe2,,A,pw-1,,https://a.example,Work,otpauth://totp/a?secret=JBSWY3DPEHPK3PXP\n",
      [
        "a.example/zoe secret: pw-1",
        "a.example/zoe/otp one-time password: otpauth://totp/a?secret=JBSWY3DPEHPK3PXP",
      ]),
    ImportSample(
      "Firefox with carriage returns and every field in quotes",
      "\"url\",\"username\",\"password\",\"httpRealm\",\"formActionOrigin\",\"guid\",\"timeCreated\",\"timeLastUsed\","
        + "\"timePasswordChanged\"\r\n\"https://a.example\",\"zoe\",\"p\"\"w\",\"\",\"https://a.example\",\"{1}\",\"1\","
        + "\"2\",\"3\"\r\n",
      ["a.example/zoe secret: p\"w"]),
  ]

  private static let refusals: [ImportSample] = [
    refused(
      "RoboForm",
      "Name,Url,MatchUrl,Login,Pwd,Note,Folder,RfFieldsV2\nA,https://a.example,,zoe,pw-1,,,\n",
      "cannot detect"),
    refused(
      "Keeper, whose table has no header", "Folder,A,zoe,pw-1,https://a.example,,\n",
      "cannot detect"),
    refused(
      "Keeper's JSON",
      #"{"shared_folders":[],"records":[{"title":"A","login":"zoe","password":"pw-1"}]}"#,
      "cannot detect"),
    refused(
      "Zoho Vault",
      "Password Name,Description,Password URL,SecretData,Notes,CustomData,Tags\nA,,x,pw-1,,,\n",
      "cannot detect"),
    refused(
      "Myki",
      "nickname,url,username,password,additionalInfo,twofaSecret\nA,https://a.example,zoe,pw-1,,\n",
      "cannot detect"),
    refused(
      "Bitwarden's JSON that is protected by a password",
      #"{"encrypted":true,"passwordProtected":true,"salt":"x","kdfType":0,"encKeyValidation_DO_NOT_EDIT":"2.x","data":"2.x"}"#,
      "it is encrypted"),
    refused(
      "Proton Pass's JSON",
      #"{"version":"1.2","userId":"u","encrypted":false,"vaults":{"v":{"name":"P","items":[{"data":{"type":"login"}}]}}}"#,
      "a JSON export of Proton Pass", "CSV"),
    refused(
      "Passky",
      #"{"encrypted":false,"passwords":[{"website":"a","username":"zoe","password":"pw-1"}]}"#,
      "cannot detect"),
    refused(
      "the accounts of Aegis", #"{"version":1,"header":{"slots":null},"db":{"entries":[]}}"#,
      "cannot detect"),
    refused(
      "SafeInCloud",
      "<?xml version=\"1.0\"?><database><card title=\"A\"><field>pw-1</field></card></database>",
      "cannot detect"),
    refused(
      "KeePass 1's XML",
      "<?xml version=\"1.0\"?><pwlist><pwentry><title>A</title></pwentry></pwlist>",
      "cannot detect"),
    refused(
      "a table that a spreadsheet program marks with its separator",
      "sep=;\nname;url;username;password\nA;https://a.example;zoe;pw-1\n", "cannot detect"),
  ]

  private static let documents: [ImportSample] = [
    ImportSample(
      "the vault of an organisation in Bitwarden",
      #"{"encrypted":false,"collections":[{"id":"c","organizationId":"o","name":"Team","externalId":null}],"items":["#
        + #"{"passwordHistory":null,"id":"i","organizationId":"o","folderId":null,"type":1,"reprompt":0,"name":"A","#
        + #""notes":null,"favorite":false,"login":{"fido2Credentials":[],"uris":[{"match":null,"uri":"https://a.example"}],"#
        + #""username":"zoe","password":"pw-1","totp":"steam://JBSWY3DPEHPK3PXP"},"collectionIds":["c"]}]}"#,
      [
        "a.example/zoe secret: pw-1",
        "a.example/zoe/otp one-time password: steam://JBSWY3DPEHPK3PXP",
      ]),
    ImportSample(
      "an archived login in Bitwarden",
      #"{"encrypted":false,"items":[{"type":1,"name":"Old","archivedDate":"2025-01-01T00:00:00Z","login":{"username":"zoe","#
        + #""password":"pw-1","uris":[{"uri":"https://a.example"}]}},{"type":1,"name":"A","archivedDate":null,"login":{"#
        + #""username":"zoe","password":"pw-1","uris":[{"uri":"https://a.example"}]}}]}"#,
      ["a.example/zoe secret: pw-1", "a.example/zoe secret: pw-1"]),
    ImportSample(
      "a netrc file with a macro within an entry, and Windows line ends",
      "machine a.example\r\nlogin zoe\r\npassword pw-1\r\nmacdef init\r\n\r\ndefault login anonymous password x@y.example\r\n",
      told: ["macdef: NOT imported"],
      ["a.example/zoe secret: pw-1", "default/anonymous secret: x@y.example"]),
    ImportSample(
      "entries of KeePassXC with an expired flag, a Steam seed and a further URL",
      ImportSample.keePass([
        [
          ("Title", "A"), ("UserName", "zoe"), ("Password", "pw-1"), ("URL", "https://a.example"),
          (
            "otp",
            "otpauth://totp/Steam:zoe?secret=JBSWY3DPEHPK3PXP&amp;period=30&amp;digits=5&amp;issuer=Steam&amp;encoder=steam"
          ),
          ("KP2A_URL_1", "https://b.example"),
        ]
      ]),
      [
        "a.example/zoe secret: pw-1",
        "a.example/zoe/otp one-time password: otpauth://totp/Steam:zoe?secret=JBSWY3DPEHPK3PXP&period=30&digits=5"
          + "&issuer=Steam&encoder=steam",
      ]),
  ]

  @Test("a variant is read correctly or refused", arguments: tables + refusals + documents)
  func variant(_ sample: ImportSample) throws { try sample.check() }
}
