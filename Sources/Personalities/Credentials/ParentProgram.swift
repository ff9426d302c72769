package import Credentials
internal import Glibc
internal import Subprocess
package import Terminal

extension PromptCaller {
  /// The program that has started this process; nil if it is none of OpenSSH's, or cannot be identified.
  ///
  /// The parent is identified by its executable file, which nothing that a server sends can choose. Its version is what
  /// this file prints, not what another `ssh` in `PATH` prints.
  package static func parent(_ environment: Environment) -> PromptCaller? {
    let parent = getppid()
    let file = "/proc/\(parent)/exe"
    guard let path = linkTarget(file), let name = path.split(separator: "/").last else { return nil }
    let caller = PromptCaller(name: String(name)) {
      var run = ProgramRun(
        file, ["-V"], environment: ProcessEnvironment(entries: environment.entries, locale: "C"))
      run.folder = "/"
      run.timeout = .seconds(5)
      // A program that does not run has no version.
      guard let outcome = try? run.run(), outcome.succeeded else { return nil }
      return String(decoding: outcome.errors, as: UTF8.self)
    }
    // If it has ended, the number may belong to another process by now.
    return getppid() == parent ? caller : nil
  }

  private static func linkTarget(_ path: String) -> String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &target, target.count)
    guard count > 0 else { return nil }
    return String(validating: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
