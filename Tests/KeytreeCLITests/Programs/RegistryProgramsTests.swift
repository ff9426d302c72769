import Foundation
import Testing

/// Programs that download from registries; each calls keytree under a different name.
@Suite(.serialized) struct RegistryProgramsTests {
  /// The secret is ASCII, because pip sends other characters in Latin-1.
  private static let secret = "open se\"s'a$me\\"
  private let home: ProgramsHome

  init() throws { home = try ProgramsHome() }

  // MARK: Python

  /// Returns a server with a Python package index of one package, which requires a password.
  private static func packageIndex(_ login: String) throws -> HTTPServer {
    let name = "demo_pkg-1.0-py3-none-any.whl"
    return try HTTPServer { request in
      guard request.authorization == login else { return .unauthorized }
      if request.path.hasSuffix(".metadata") {
        return .text("Metadata-Version: 2.1\nName: demo-pkg\nVersion: 1.0\n")
      }
      // The metadata is a separate file, so that pip need not unpack the package (PEP 658).
      let link = "<a href=\"/files/\(name)\" data-core-metadata=\"true\" data-dist-info-metadata=\"true\">"
      return .text("<!DOCTYPE html><html><body>\(link)\(name)</a></body></html>", type: "text/html")
    }
  }

  /// A Python whose pip supports `--keyring-provider`.
  private static let pip = RealProgram.python(
    "import pip; assert tuple(map(int, pip.__version__.split('.')[:2])) >= (23, 1)")

  @Test(.enabled(if: pip != nil, "there is no pip 23.1 or later"))
  func `pip gets the password of its index from keytree`() throws {
    let server = try Self.packageIndex("-x bob:\(Self.secret)")
    try home.add(
      ["--server=127.0.0.1", "-P", "\(server.port)", "-r", "http", "--account=-x bob"], Self.secret)
    let python = try #require(Self.pip)
    let versions = { (user: String) in
      try home.run(
        [
          python, "-m", "pip", "index", "versions", "demo-pkg", "--disable-pip-version-check",
          "--no-cache-dir",
          "--no-input", "--keyring-provider", "subprocess",
          "--index-url", "http://\(user)@\(server.host)/simple/",
        ])
    }
    let found = try versions("-x%20bob")
    #expect(found.status == 0 && found.text.hasPrefix("demo-pkg (1.0)"), "\(found.errors)")
    #expect(server.logins.last == "-x bob:\(Self.secret)")
    let missing = try versions("-x%20nobody")
    #expect(missing.status != 0 && missing.text == "", "\(missing.text)")
  }

  @Test(.enabled(if: RealProgram.has("uv"), "uv is not installed"))
  func `uv gets the password of its index from keytree`() throws {
    let server = try Self.packageIndex("-x bob:\(Self.secret)")
    try home.add(
      ["--server=127.0.0.1", "-P", "\(server.port)", "-r", "http", "--account=-x bob"], Self.secret)
    let resolve = { (user: String) in
      try home.run(
        [
          "uv", "pip", "compile", "--quiet", "--no-cache", "--no-header", "--no-annotate", "--no-config",
          "--no-python-downloads", "--keyring-provider", "subprocess",
          "--index-url", "http://\(user)@\(server.host)/simple/", "-",
        ], input: "demo-pkg\n")
    }
    let found = try resolve("-x%20bob")
    #expect(found.status == 0 && found.text == "demo-pkg==1.0\n", "\(found.errors)")
    #expect(server.logins.last == "-x bob:\(Self.secret)")
    let missing = try resolve("-x%20nobody")
    #expect(missing.status != 0 && missing.text == "", "\(missing.text)")
  }

  @Test(.enabled(if: RealProgram.has("uv"), "uv is not installed"))
  func `uv gets account and password of an index that always requires them`() throws {
    let server = try Self.packageIndex("-x bob:\(Self.secret)")
    try home.add(
      ["--server=127.0.0.1", "-P", "\(server.port)", "-r", "http", "--account=-x bob"], Self.secret)
    try home.write(
      """
      [project]
      name = "test"
      version = "0"
      requires-python = ">=3.8"
      dependencies = ["demo-pkg"]
      [[tool.uv.index]]
      url = "http://\(server.host)/simple/"
      default = true
      authenticate = "always"

      """, to: "project/pyproject.toml")
    let locked = try home.run(
      [
        "uv", "lock", "--quiet", "--no-cache", "--no-python-downloads", "--keyring-provider", "subprocess",
        "--directory", "project",
      ])
    #expect(locked.status == 0, "\(locked.errors)")
    #expect(server.logins == ["-x bob:\(Self.secret)"])
  }

  // MARK: Containers

  /// Returns a server with a container registry that accepts one account.
  private static func containerRegistry(_ login: String) throws -> HTTPServer {
    try HTTPServer { request in
      var response = request.authorization == login ? HTTPResponse.text("{}") : .unauthorized
      response.fields.append(("Docker-Distribution-Api-Version", "registry/2.0"))
      return response
    }
  }

  @Test(.enabled(if: RealProgram.has("docker"), "docker is not installed"))
  func `docker logs in, remembers the login, and logs out`() throws {
    let server = try Self.containerRegistry("-u x:\(Self.secret)")
    try home.write("{\"credsStore\":\"keytree\"}\n", to: ".docker/config.json")
    let docker = { (arguments: [String], input: String) in
      // Without a daemon, docker connects to the registry itself.
      try home.run(
        ["docker"] + arguments + [server.host], input: input, variables: ["DOCKER_HOST": "unix:///nowhere"])
    }
    let login = ["login", "--username", "-u x", "--password-stdin"]
    let wrong = try docker(login, "wrong")
    #expect(wrong.status == 1, "\(wrong.errors)")
    #expect(try home.run(["docker-credential-keytree", "list"]).text == "{}\n")
    let right = try docker(login, Self.secret)
    #expect(right.status == 0, "\(right.errors)")
    #expect(try home.run(["docker-credential-keytree", "list"]).text == "{\"\(server.host)\":\"-u x\"}\n")
    #expect(try home.program.succeed(["get", "127.0.0.1", "--account=-u x"]) == Self.secret)
    let file = try String(contentsOfFile: "\(home.folder)/.docker/config.json", encoding: .utf8)
    #expect(!file.contains("\"auth\"") && !file.contains(Self.secret), "\(file)")
    let again = try docker(["login"], "")
    #expect(again.errors.contains("existing credentials... [Username: -u x]"), "\(again.text)\(again.errors)")
    #expect(server.logins.last == "-u x:\(Self.secret)")
    #expect(try docker(["logout"], "").status == 0)
    #expect(try home.run(["docker-credential-keytree", "list"]).text == "{}\n")
  }

  @Test(.enabled(if: RealProgram.has("skopeo"), "skopeo is not installed"))
  func `skopeo logs in, uses the login, and logs out`() throws {
    let server = try Self.containerRegistry("-u x:\(Self.secret)")
    let file = try home.write("{\"credHelpers\":{\"\(server.host)\":\"keytree\"}}\n", to: "auth.json")
    let skopeo = { (arguments: [String], input: String) in
      try home.run(["skopeo"] + arguments, input: input, variables: ["REGISTRY_AUTH_FILE": file])
    }
    let listing = ["list-tags", "--tls-verify=false", "docker://\(server.host)/demo"]
    #expect(try skopeo(listing, "").status != 0)
    let login = ["login", "--tls-verify=false", "--username", "-u x", "--password-stdin", server.host]
    let entered = try skopeo(login, Self.secret)
    #expect(entered.status == 0, "\(entered.errors)")
    #expect(try skopeo(["login", "--get-login", server.host], "").text == "-u x\n")
    let listed = try skopeo(listing, "")
    #expect(listed.status == 0, "\(listed.errors)")
    #expect(server.requests.last?.path == "/v2/demo/tags/list")
    #expect(server.logins.last == "-u x:\(Self.secret)")
    #expect(try skopeo(["logout", server.host], "").status == 0)
    #expect(try home.run(["docker-credential-keytree", "list"]).text == "{}\n")
  }

  // MARK: Rust

  @Test(.enabled(if: RealProgram.has("setsid"), "setsid is not installed"))
  func `cargo reports a token that cannot be asked for without a terminal`() throws {
    let login =
      #"{"v":1,"kind":"login","registry":{"index-url":"sparse+https://r.example/","name":"r"},"args":[]}"#
    let answer = try home.run(
      ["setsid", "--wait", "cargo-credential-keytree", "--cargo-plugin"], input: login + "\n")
    let line = answer.text.split(separator: "\n").last ?? ""
    #expect(line.contains(#""message":"cannot ask \"Token for r\": no terminal is available""#), "\(line)")
  }

  @Test(
    .enabled(
      if: RealProgram.version(["cargo", "--version"], isAtLeast: (1, 74)), "there is no cargo 1.74 or later"))
  func `cargo logs in, sends the token to its registry, and logs out`() throws {
    let token = "-to\"ken'$x"
    let server = try HTTPServer { request in
      guard request.authorization == token else {
        return HTTPResponse(
          status: 401, fields: [("WWW-Authenticate", "Cargo login_url=\"https://example.org/me\"")])
      }
      if request.path == "/config.json" {
        let host = "http://\(request.fields["host"] ?? "")"
        return .text("{\"dl\":\"\(host)/dl\",\"api\":\"\(host)\",\"auth-required\":true}")
      }
      return .text("{\"users\":[{\"id\":1,\"login\":\"owner\",\"name\":null}]}")
    }
    let index = "sparse+http://\(server.host)/"
    try home.write(
      """
      [registries.mine]
      index = "\(index)"
      credential-provider = "cargo-credential-keytree"

      """, to: ".cargo/config.toml")
    let cargo = { (arguments: [String], input: String) in
      try home.run(
        ["cargo"] + arguments + ["--registry", "mine"], input: input,
        variables: ["CARGO_HOME": "\(home.folder)/.cargo"])
    }
    let owners = ["owner", "--list", "demo"]
    let before = try cargo(owners, "")
    #expect(before.status != 0 && before.text == "", "\(before.errors)")
    // Cargo asks for the token itself if its standard input is not a terminal.
    let login = try cargo(["login"], token + "\n")
    #expect(login.status == 0, "\(login.errors)")
    #expect(try home.program.succeed(["get", "--service=cargo-registry:\(index)"]) == token)
    let listed = try cargo(owners, "")
    #expect(listed.status == 0 && listed.text == "owner\n", "\(listed.errors)")
    #expect(server.logins.last == token)
    #expect(try cargo(["logout"], "").status == 0)
    #expect(try cargo(owners, "").status != 0)
    #expect(try home.program.run(["find"]).text == "")
  }
}
