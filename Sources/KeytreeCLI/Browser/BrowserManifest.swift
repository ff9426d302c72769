internal import BrowserHost
internal import Encoding
internal import Secrets
internal import Terminal

/// The file that tells a browser which program it may start, and for which extensions.
struct BrowserManifest: Equatable {
  /// The path of the program; it takes no arguments.
  let program: String
  /// The origins of extensions or ids of add-ons that may call.
  let callers: [String]

  /// The name of the host, which the extension determines.
  private static let host = "com.github.browserpass.native"
  private static let limit = 1 << 16

  /// Creates the manifest of a browser.
  ///
  /// - Parameters:
  ///   - program: the path of the program.
  ///   - family: the form of the manifest.
  ///   - more: callers besides the published extensions. Those of other browsers are left out.
  init(program: String, for family: BrowserPlace.Family, allowing more: [String]) {
    self.program = program
    let published = family == .firefox ? BrowserCaller.addOns : BrowserCaller.origins
    callers =
      published
      + more.filter { BrowserCaller.isOrigin($0) == (family == .chromium) && !published.contains($0) }
  }

  /// Reads the manifest of a browser; nil if there is none.
  ///
  /// - Throws: `UserFileError`, with `EINVAL` if the file is not a manifest.
  init?(of place: BrowserPlace) throws {
    guard let content = try place.manifest.read(limit: Self.limit) else { return nil }
    let limits = JSONLimits(size: Self.limit, depth: 8)
    let value = try? JSONValue(parsing: content, limits: limits)
    guard case .object(let members)? = value, case .string(let program)? = Self.member("path", members) else {
      throw UserFileError(action: "read", path: place.manifest.path, errno: Self.invalid)
    }
    self.program = program
    let list = Self.member("allowed_origins", members) ?? Self.member("allowed_extensions", members)
    guard case .array(let values)? = list else {
      callers = []
      return
    }
    callers = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  private static let invalid: Int32 = 22

  private static func member(_ name: String, _ members: [JSONMember]) -> JSONValue? {
    members.first { $0.name == name }?.value
  }

  /// Returns the content of the file.
  func bytes(for family: BrowserPlace.Family) -> [UInt8] {
    let list = JSONValue.array(callers.map { .string($0) })
    let object = JSONValue.object([
      JSONMember("name", .string(Self.host)), JSONMember("description", .string("Keytree for Browserpass")),
      JSONMember("path", .string(program)), JSONMember("type", .string("stdio")),
      JSONMember(family == .firefox ? "allowed_extensions" : "allowed_origins", list),
    ])
    return object.canonicalBytes + [UInt8(ascii: "\n")]
  }
}
