/// The reasons why a benchmark could not run.
enum BenchmarkError: Error {
  /// The command that is measured is not built.
  case commandMissing(path: String)
  /// A program that is compared with is not installed.
  case programMissing(name: String)
  /// A program ended in another way than it should.
  case failed(command: String, status: String, said: String)
  /// A system call failed.
  case system(action: String, path: String, errno: Int32)
  /// Something is not as it has to be for the numbers to mean anything.
  case unexpected(String)

  /// The message.
  var text: String {
    switch self {
    case .commandMissing(let path):
      """
      \(path) is not there
      hint: swift build -c release --static-swift-stdlib --toolset .toolset.json
      """
    case .programMissing(let name): "\(name) is not installed"
    case .failed(let command, let status, let said): "\(command): \(status)\n\(said)"
    case .system(let action, let path, let code): "\(action) \(path): \(SystemText.of(code))"
    case .unexpected(let text): text
    }
  }
}
