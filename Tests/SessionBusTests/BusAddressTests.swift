import SessionBus
import Testing

/// The address of the session bus, and units in control groups.
@Suite(.serialized)
struct BusAddressTests {
  @Test(
    "the variable comes first, then the socket in the runtime folder",
    arguments: [
      ("unix:path=/a", "/run/user/1", "unix:path=/a"), (nil, "/run/user/1", "unix:path=/run/user/1/bus"),
      ("", "/r", "unix:path=/r/bus"), (nil, "/ä b,", "unix:path=/%c3%a4%20b%2c/bus"),
    ] as [(String?, String?, String)])
  func address(_ variable: String?, _ folder: String?, _ expected: String) throws {
    #expect(try BusAddress.session(variable: variable, runtimeFolder: folder) == expected)
  }

  @Test("without both there is no address", arguments: [nil, ""])
  func none(_ value: String?) {
    #expect(throws: BusError.noAddress) { try BusAddress.session(variable: value, runtimeFolder: value) }
  }

  @Test("a system without the library is reported with the names that were tried")
  func noLibrary() {
    let names = ["libkeytree-missing.so.0", "libc.so.6"]
    #expect(throws: BusError.libraryMissing(names: names)) {
      try BusConnection(address: "unix:path=/nonexistent", libraries: names)
    }
  }
}
