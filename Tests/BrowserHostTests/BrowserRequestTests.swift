import Foundation
import Secrets
import TestSupport
import Testing

@testable import BrowserHost

@Suite("A request of the extension", .serialized)
struct BrowserRequestTests {
  private func read(_ json: String) throws -> BrowserRequest { try BrowserRequest(SecretBytes(text: json)) }

  private func code(_ bytes: [UInt8]) -> BrowserError.Code? {
    do {
      _ = try BrowserRequest(SecretBytes(copying: bytes))
      return nil
    } catch {
      return error.code
    }
  }

  @Test("what the extension sends is read, and everything else is skipped")
  func wholeRequest() throws {
    let request = try read(
      #"""
      {"settings":{"autoSubmit":false,"gpgPath":"/bin/evil","enableOTP":true,"recent":{"a":{"when":1.5e3,"count":2}},
       "stores":{"work":{"id":"work","name":"Work","path":"~/w","settings":{"x":[[]]}},"default":{"path":"/s"}},
       "tab":{"lastAccessed":1795199529.25,"title":"\ud800 \"x\\","sub":{"a":[{},[],-0.5E-3,null,true]}},
       "origin":"https://github.com"},"action":"save","storeId":"default","file":"github.com\/alice.gpg",
       "contents":"s\u00e9cret\n","echoResponse":[1.50, {"b":"\ud800"}]}
      """#)
    #expect(request.action == "save")
    #expect(
      request.stores == [.init(id: "default", path: "/s"), .init(id: "work", name: "Work", path: "~/w")])
    #expect(request.origin == Array("https://github.com".utf8))
    #expect(request.wantsSeed)
    #expect(request.storeID == "default")
    #expect(request.file == Array("github.com/alice.gpg".utf8))
    #expect(request.contents?.isEqual(toText: "sécret\n") == true)
    #expect(request.echo?.isEqual(toText: #"[1.50, {"b":"\ud800"}]"#) == true)
  }

  @Test("a member of another type counts as missing")
  func otherTypes() throws {
    let request = try read(
      #"{"action":7,"settings":{"stores":[],"enableOTP":"true","origin":null},"file":{},"contents":1}"#)
    #expect(request.action == "" && request.stores.isEmpty && !request.wantsSeed)
    #expect(request.origin == nil && request.file == nil && request.contents == nil)
    #expect(try read(#"{"settings":null}"#).stores.isEmpty)
    #expect(try read(#"{"settings":{"stores":{"a":null}}}"#).stores == [.init(id: "a", path: "")])
  }

  @Test(
    "what is not JSON is refused",
    arguments: [
      "", " ", "[]", "1", "{", #"{"action""#, #"{"action":}"#, #"{"action":"list",}"#, #"{"x":[1,]}"#,
      #"{"x":{"a":1,}}"#,
      #"{"x":[1 2]}"#, #"{"x":{"a" 1}}"#, #"{"x":{1:1}}"#, #"{"x":tru}"#, #"{"x":1.}"#, #"{"x":01}"#,
      #"{"x":"a"#,
      "{\"x\":\"a\u{1}\"}", #"{"x":1}}"#, #"{"x":[}"#, #"{"x":{]}"#, #"{"action":"\ud800"}"#, #"{"x":"\"#,
      "\u{feff}{}", #"{"action":"a","action":"b"}"#, #"{"settings":{"stores":{"a":{},"a":{}}}}"#,
    ])
  func notJSON(text: String) {
    #expect(code(Array(text.utf8)) == .requestUnreadable)
  }

  @Test("two members with one name are refused only where they are read")
  func duplicates() throws {
    #expect(try read(#"{"action":"list","x":{"a":1,"a":2}}"#).action == "list")
  }

  @Test("bytes that are not UTF-8 are refused, wherever they are")
  func notText() {
    #expect(code(Array(#"{"x":""#.utf8) + [0xFF] + Array(#""}"#.utf8)) == .requestUnreadable)
  }

  @Test("deep nesting is refused without recursion", arguments: ["[", "{\"a\":"])
  func deep(bracket: String) throws {
    let closing = bracket == "[" ? "]" : "}"
    func nested(_ depth: Int) -> [UInt8] {
      let value = String(repeating: bracket, count: depth) + "1" + String(repeating: closing, count: depth)
      return Array("{\"settings\":{\"tab\":\(value)}}".utf8)
    }
    #expect(code(nested(62)) == nil)
    #expect(code(nested(63)) == .requestUnreadable)
    #expect(code(nested(100_000)) == .requestUnreadable)
  }

  @Test("a frame has the length in front, in the byte order of the machine")
  func frames() {
    let frame = NativeFrame.frame(SecretBytes(text: "{}"))
    let bytes = unsafe frame.withBytes { unsafe Array($0) }
    let header = unsafe withUnsafeBytes(of: UInt32(2)) { unsafe Array($0) }
    #expect(bytes == header + Array("{}".utf8))
    #expect(NativeFrame.length(SecretBytes(copying: bytes.prefix(4))) == 2)
    #expect(NativeFrame.length(SecretBytes(copying: bytes.prefix(3))) == nil)
    #expect(NativeFrame.length(SecretBytes(copying: [UInt8](repeating: 255, count: 4))) == 4_294_967_295)
  }

  @Test(
    "the published extensions may call, and others only if the user allows them",
    arguments: [
      (["chrome-extension://naepdomgkenhinolocfifgehidddafch/"], true),
      (["chrome-extension://naepdomgkenhinolocfifgehidddafch/", "--parent-window=0"], true),
      (["chrome-extension://naepdomgkenhinolocfifgehidddafch"], false),
      (["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"], false),
      (["/m.json", "browserpass@maximbaz.com"], true), (["browserpass@maximbaz.com"], false),
      (["/m.json", "other@example"], false),
      (["/m.json", "chrome-extension://naepdomgkenhinolocfifgehidddafch/"], false),
      ([], false),
    ])
  func callers(arguments: [String], isAllowed: Bool) {
    #expect(BrowserCaller.isAllowed(arguments.map { Array($0.utf8) }) == isAllowed)
  }

  @Test("a caller that the user allows is compared in the place of its browser")
  func furtherCallers() {
    let more = ["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/", "own@example"]
    #expect(BrowserCaller.isAllowed([Array(more[0].utf8)], more: more))
    #expect(BrowserCaller.isAllowed([Array("/m.json".utf8), Array(more[1].utf8)], more: more))
    #expect(!BrowserCaller.isAllowed([Array(more[1].utf8)], more: more))
    #expect(more.allSatisfy(BrowserCaller.isWellFormed))
    for bad in [
      "", "x", "chrome-extension://abc/", "chrome-extension://\(String(repeating: "q", count: 32))/", "a@b,c",
    ] {
      #expect(!BrowserCaller.isWellFormed(bad))
    }
  }
}
