import Foundation
import Testing

/// The tests of Python's keyring for backends, on a backend that calls keytree. The backend is in `fixtures/keyring`.
@Suite(.serialized) struct PythonKeyringTests {
  /// A Python that has keyring and pytest.
  private static let python = RealProgram.python("import keyring.testing.backend, pytest")

  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../../fixtures/keyring/test_keytree_backend.py").standardizedFileURL.path

  /// The number of tests in `BackendBasicTests` of keyring 23.9; later versions have more.
  private static let least = 12

  @Test(
    .enabled(
      if: python != nil, "there is no Python with keyring and pytest (python3-keyring, python3-pytest)"))
  func `the backend tests of Python's keyring pass over add, get and rm`() throws {
    let home = try ProgramsHome()
    let python = try #require(Self.python)
    let options = ["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", Self.tests]
    let outcome = try home.run([python] + options)
    #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
    let passed = outcome.text.firstMatch(of: /(\d+) passed/).flatMap { Int($0.1) } ?? 0
    #expect(passed >= Self.least && !outcome.text.contains("skipped"), "\(outcome.text)")
    // A test that creates passwords removes them, also when it has failed.
    #expect(try home.program.run(["find"]).text == "")
  }
}
