/// The address of the user's session bus.
package enum BusAddress {
  /// Returns the address: the one in `DBUS_SESSION_BUS_ADDRESS`, else the socket `bus` in the runtime folder.
  ///
  /// - Parameters:
  ///   - variable: The value of `DBUS_SESSION_BUS_ADDRESS`.
  ///   - runtimeFolder: The value of `XDG_RUNTIME_DIR`.
  /// - Throws: `noAddress` if neither is set.
  package static func session(variable: String?, runtimeFolder: String?) throws(BusError) -> String {
    if let variable, !variable.isEmpty { return variable }
    guard let runtimeFolder, !runtimeFolder.isEmpty else { throw .noAddress }
    return "unix:path=" + escape(runtimeFolder + "/bus")
  }

  /// Escapes a value in an address (D-Bus specification, "Server Addresses").
  private static func escape(_ value: String) -> String {
    var text = ""
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"),
        UInt8(ascii: "."), UInt8(ascii: "*"):
        text.unicodeScalars.append(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 16)
        text += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return text
  }
}
