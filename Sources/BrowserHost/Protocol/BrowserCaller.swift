/// The extensions that may call the host.
///
/// A browser passes the caller as an argument, and starts the host only for the callers that the manifest lists. Another
/// local program can pass any argument, but it could run `keytree` itself.
package enum BrowserCaller {
  /// The origins of the published extension in browsers that are based on Chromium: from the Web Store, from the CRX
  /// file of its authors, and loaded unpacked.
  package static let origins = [
    "chrome-extension://naepdomgkenhinolocfifgehidddafch/",
    "chrome-extension://pjmbgaakjkbhpopmakjoedenlfdmcdgm/",
    "chrome-extension://klfoddkbhleoaabpmiigbmpbjfljimgb/",
  ]
  /// The ids of the published add-on in Firefox.
  package static let addOns = ["browserpass@maximbaz.com"]

  /// Returns true if the arguments of a browser name an extension that may call.
  ///
  /// - Parameters:
  ///   - arguments: Chrome passes the origin of the caller first. Firefox passes the path of the manifest and then the id
  ///     of the add-on. More arguments may follow.
  ///   - more: Further origins and ids that the user has allowed.
  package static func isAllowed(_ arguments: [[UInt8]], more: [String] = []) -> Bool {
    func isOne(_ index: Int, of names: [String]) -> Bool {
      index < arguments.count && names.contains { arguments[index].elementsEqual($0.utf8) }
    }
    return isOne(0, of: origins + more.filter(isOrigin))
      || isOne(1, of: addOns + more.filter { !isOrigin($0) })
  }

  /// Returns true if a caller is the origin of an extension for Chromium, not the id of an add-on for Firefox.
  package static func isOrigin(_ caller: String) -> Bool { caller.hasPrefix(originPrefix) }

  /// Returns true if a text is the origin of an extension or the id of an add-on.
  ///
  /// An id of Firefox is `name@host` or a UUID in braces.
  package static func isWellFormed(_ caller: String) -> Bool {
    if isOrigin(caller) {
      let id = caller.utf8.dropFirst(originPrefix.utf8.count)
      return id.count == 33 && id.last == UInt8(ascii: "/")
        && id.dropLast().allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "p")).contains($0) }
    }
    let isPrintable = caller.utf8.allSatisfy { byte in
      byte > 0x20 && byte < 0x7F && !"\"\\/,".utf8.contains(byte)
    }
    let isID = caller.utf8.contains(UInt8(ascii: "@")) || (caller.hasPrefix("{") && caller.hasSuffix("}"))
    return isPrintable && isID && caller.utf8.count <= 80
  }

  private static let originPrefix = "chrome-extension://"
}
