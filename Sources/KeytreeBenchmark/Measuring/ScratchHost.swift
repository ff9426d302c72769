internal import Glibc
internal import Keyring

extension HostContext {
  /// The host that ``Workbench`` describes to a child of this program in environment variables.
  static var scratch: HostContext {
    HostContext(
      gnupgHome: variable("GNUPGHOME"), engineBase: "\(variable("XDG_RUNTIME_DIR"))/keytree",
      stateBase: "\(variable("XDG_STATE_HOME"))/keytree", searchPath: variable("PATH"), interaction: .never)
  }

  private static func variable(_ name: String) -> String {
    unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
  }
}
