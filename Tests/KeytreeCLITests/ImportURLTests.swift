import KeyringModel
import Secrets
import Testing
@testable import Interchange
@testable import KeytreeCLI

@Suite("Hosts and URLs of imports", .serialized)
struct ImportURLTests {
  struct Example: Sendable, CustomTestStringConvertible {
    var text: String
    var scheme: String?
    var host: String?
    var port: Int64?
    var path = ""
    var shown: String?
    var testDescription: String { text.debugDescription }

    init(
      _ text: String, _ scheme: String?, _ host: String?, _ port: Int64? = nil, path: String = "",
      shown: String? = nil
    ) {
      (self.text, self.scheme, self.host, self.port) = (text, scheme, host, port)
      (self.path, self.shown) = (path, shown)
    }
  }

  @Test(
    "a URL determines the place of a password",
    arguments: [
      Example("https://example.com", "https", "example.com"),
      Example("HTTPS://Example.COM/", "https", "example.com", path: "/"),
      Example("https://example.com/log/in", "https", "example.com", path: "/log/in"),
      Example("http://example.com:8080/x", "http", "example.com", 8080, path: "/x"),
      Example("https://example.com:8443/@x/y", "https", "example.com", 8443, path: "/@x/y"),
      Example("https://example.com:/", "https", "example.com", path: "/"),
      Example("https://router/", "https", "router", path: "/"),
      Example("https://xn--bcher-kva.example/", "https", "xn--bcher-kva.example", path: "/"),
      Example("https://bücher.example/", "https", "bücher.example", path: "/"),
      Example("http://192.0.2.1/", "http", "192.0.2.1", path: "/"),
      Example("https://[2001:DB8::1]:8443/a", "https", "2001:db8::1", 8443, path: "/a"),
      Example("[2001:db8::1]:8443", nil, "2001:db8::1", 8443),
      Example("2001:db8::1", nil, "2001:db8::1"),
      Example("example.com", nil, "example.com"),
      Example("example.com:22", nil, "example.com", 22),
      Example("example.com/path", nil, "example.com", path: "/path"),
      Example("localhost:8080", nil, "localhost", 8080),
      Example("android://a1B2==@com.example.app/", "android", "com.example.app", path: "/"),
      // A part that may be secret is not shown: a user name may be a token.
      Example("ftp://alice@example.com/", "ftp", "example.com", path: "/", shown: "ftp://example.com/"),
      Example(
        "https://ghp_0815@github.com/x", "https", "github.com", path: "/x", shown: "https://github.com/x"),
      Example(
        "https://alice:pw@example.com/x", "https", "example.com", path: "/x", shown: "https://example.com/x"),
      Example("https://a:b@c@example.com/", "https", "example.com", path: "/", shown: "https://example.com/"),
      Example(
        "https://example.com/r?token=1", "https", "example.com", path: "/r", shown: "https://example.com/r"),
      Example("https://example.com#secret", "https", "example.com", shown: "https://example.com"),
      Example("alice:pw@example.com", nil, nil, shown: "example.com"),
      // There is no host.
      Example("", nil, nil),
      Example("about:blank", nil, nil),
      Example("https://", nil, nil),
      Example("https:///path", nil, nil),
      Example("https://example.com:99999/", nil, nil),
      Example("https://exa mple.com/", nil, nil),
      Example("https://[::1", nil, nil),
      Example("my router at home", nil, nil),
      Example("router", nil, nil),
      Example("C:\\keys", nil, nil),
      Example("mailto:alice@example.org", nil, nil, shown: "example.org"),
      // The password is in the wrong place: only the scheme is shown.
      Example("https://u:SECRET/x@c.example/", nil, nil, shown: "https://"),
      Example("https://u:SECRET#x@d.example/", nil, nil, shown: "https://"),
      Example("https://u:SECRET?x@d.example/", nil, nil, shown: "https://"),
      Example("https://u:a@SECRET/x@c.example/", nil, nil, shown: "https://"),
      Example("https://u:SEC;RET@c.example/", "https", "c.example", path: "/", shown: "https://c.example/"),
      Example("jdbc:postgresql://u:SECRET@e.example/db", nil, nil, shown: ""),
      Example("https:/u:SECRET@f.example/", nil, nil, shown: ""),
      Example("//u:SECRET@i.example/", nil, nil, shown: ""),
      // There is no password, but an `@` in the path and a colon after it.
      Example("https://medium.com/@alice", "https", "medium.com", path: "/@alice"),
      Example("https://x.example/@alice:8", "https", "x.example", path: "/@alice:8"),
      Example("https://x.example/a;p=SECRET", "https", "x.example", path: "/a", shown: "https://x.example/a"),
      Example("https://x.example;p=SECRET/a", "https", "x.example", shown: "https://x.example"),
    ])
  func url(_ example: Example) {
    let url = unsafe SecretSlice(text: example.text).withBytes { unsafe ImportedURL($0) }
    #expect(url.scheme == example.scheme.map { Array($0.utf8) })
    #expect(url.host?.host == example.host.map { Array($0.utf8) })
    #expect(url.host?.port == example.port)
    #expect(url.path == Array(example.path.utf8))
    #expect(url.publicText == Array((example.shown ?? example.text).utf8))
    #expect(url.hidesSomething == (example.shown != nil))
  }

  @Test(
    "a folder that looks like a host is one",
    arguments: [
      ("github.com", true), ("GitHub.com", true), ("imap.example.org:993", true), ("localhost", true),
      ("192.0.2.7", true), ("[2001:db8::1]", true), ("::1", true), ("日本.jp", true), ("my_host.lan", true),
      ("work", false), ("v1.2", false), ("300.1.1.1", false), ("a..b", false), (".config", false),
      ("example.com.", true), ("John Smith", false), ("a.b c", false), ("example.com:", false),
      ("example.com:x", false), ("", false), ("..", false), ("a/b.com", false), ("12:30", false),
    ])
  func folder(_ name: String, _ isHost: Bool) {
    #expect((HostName(lookingLike: Array(name.utf8)) != nil) == isHost)
  }
}
