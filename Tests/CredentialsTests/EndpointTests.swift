import KeyringModel
import Testing

@testable import Credentials

@Suite("Locations on servers", .serialized)
struct EndpointTests {
  @Test(
    "a URL names a protocol, a host, a port and a path",
    arguments: [
      ("https://H.example:8443/a?b#c", "https", "h.example", 8443, "a"),
      ("h.example", "x", "h.example", nil, nil),
      ("HTTPS://u:p@h.example", "https", "h.example", nil, nil),
      ("git+ssh://h.example", "git+ssh", "h.example", nil, nil),
      ("a1.b-c://h.example", "a1.b-c", "h.example", nil, nil),
      // What follows the path, the query or the fragment is no host.
      ("h.example/?next=://evil.example/", "x", "h.example", nil, nil),
      ("h.example/://evil.example", "x", "h.example", nil, "://evil.example"),
      ("h.example#://evil.example", "x", "h.example", nil, nil),
    ] as [(String, String, String, Int64?, String?)])
  func urls(url: String, scheme: String, host: String, port: Int64?, path: String?) throws {
    let endpoint = try #require(Endpoint(url: Array(url.utf8), scheme: "x"))
    #expect(endpoint.scheme == scheme && endpoint.host.host == Array(host.utf8) && endpoint.host.port == port)
    #expect(endpoint.path == path.map { Array($0.utf8) })
  }

  @Test(
    "the scheme of a URL has only the characters of a scheme (RFC 3986)",
    arguments: [
      "://h.example", "1a://h.example", "+a://h.example", "a b://h.example", "a_b://h.example",
      "a%41://h.example",
      "a\u{0}b://h.example", "\u{e9}://h.example", " https://h.example", "java\tscript://h.example",
      "a@b://h.example",
    ])
  func schemes(url: String) {
    #expect(Endpoint(url: Array(url.utf8), scheme: "https") == nil)
  }

  @Test(
    "a public URL has no user, no query and no fragment",
    arguments: [
      ("https://u:p@h.example/a?token=1#x", "https://h.example/a"), ("u:p@h.example/a", "h.example/a"),
      ("//u@h.example", "//h.example"), ("h.example/://u@x", "h.example/://u@x"),
    ])
  func publicURLs(url: String, expected: String) {
    #expect(String(decoding: Endpoint.publicURL(Array(url.utf8)), as: UTF8.self) == expected)
  }
}
