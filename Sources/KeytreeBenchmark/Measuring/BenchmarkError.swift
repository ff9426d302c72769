/// The reasons why a benchmark could not run.
enum BenchmarkError: Error {
  /// The command that is measured is not built.
  case commandMissing(path: String)
  /// A program for comparison is not installed.
  case programMissing(name: String)
  /// A program did not end as expected.
  case failed(command: String, status: String, said: String)
  /// A system call failed.
  case system(action: String, path: String, errno: Int32)
  /// A condition without which the numbers mean nothing is not met.
  case unexpected(String)

  /// The message.
  var text: String {
    switch self {
    case .commandMissing(let path):
      """
      \(path) does not exist
      hint: swift build -c release --static-swift-stdlib --toolset .toolset.json --disable-local-rpath
      """
    case .programMissing(let name): "\(name) is not installed"
    case .failed(let command, let status, let said): "\(command): \(status)\n\(said)"
    case .system(let action, let path, let code): "\(action) \(path): \(SystemText.of(code))"
    case .unexpected(let text): text
    }
  }
}
