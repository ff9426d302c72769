import Sync
import Testing

@Suite("Addresses of remotes")
struct RemoteAddressTests {
  /// Addresses, and the transport with which git connects.
  static let transports = [
    ("/srv/keys.git", "file"), ("keys", "file"), ("../a:b", "file"), ("./x::y", "file"),
    ("file:///x", "file"),
    ("host:keys.git", "ssh"), ("u@host:x/y", "ssh"), ("ssh://host/x", "ssh"), ("git+ssh://host/x", "ssh"),
    ("ssh+git://host/x", "ssh"), ("git://host/x", "git"), ("http://host/x", "http"),
    ("https://host/x", "https"),
    ("ftp://host/x", "ftp"), ("FILE:///x", "FILE"), ("ext::touch x", "ext"), ("fd::17", "fd"),
    ("a+b.c-1::", "a+b.c-1"),
    ("1x::y", "1x"), ("::x", ""), ("ssh::x", ""), ("file::/x", ""), ("https::x", ""), ("FILE::/x", "FILE"),
    ("x/y://z", ""), ("://x", ""), ("-x::y", "ssh"),
  ]

  @Test(arguments: transports)
  func `an address has the transport that git uses for it`(address: String, transport: String) {
    #expect(RemoteAddress(address).transport == transport)
  }
}
