import Testing

@testable import Sync

@Suite("The reason why git failed", .serialized)
struct FailureReasonTests {
  /// Standard error of git, and the reason in it.
  static let cases: [(String, String)] = [
    ("", ""),
    ("fatal: repository '/nowhere' does not exist\n", "fatal: repository '/nowhere' does not exist"),
    (
      """
      ssh: Could not resolve hostname nowhere.example: Name or service not known
      fatal: Could not read from remote repository.

      Please make sure you have the correct access rights
      and the repository exists.

      """, "ssh: Could not resolve hostname nowhere.example: Name or service not known"
    ),
    (
      """
      @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
      @    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
      Host key verification failed.\r
      fatal: Could not read from remote repository.
      """, "Host key verification failed."
    ),
    (
      "git@git.example: Permission denied (publickey).\r\nfatal: Could not read from remote repository.\n",
      "git@git.example: Permission denied (publickey)."
    ),
    (
      """
      remote:
      remote: ========================================
      remote:
      remote: ERROR: The project you were looking for could not be found.
      remote:
      remote: ========================================
      fatal: Could not read from remote repository.
      """, "remote: ERROR: The project you were looking for could not be found."
    ),
    (
      "remote: Invalid username or password.\nfatal: Authentication failed for 'https://git.example/'\n",
      "remote: Invalid username or password.; fatal: Authentication failed for 'https://git.example/'"
    ),
    (
      "warning: redirecting\nhint: try again\nerror: RPC failed; HTTP 413\nfatal: the remote end hung up unexpectedly\n",
      "error: RPC failed; HTTP 413"
    ),
    ("fatal: the remote end hung up unexpectedly\n", "fatal: the remote end hung up unexpectedly"),
    ("some program failed\n", "some program failed"),
    (
      "remote: Resolving deltas: 100% (2/2)\rremote: a\nremote: b\nremote: c\nremote: d\nerror: failed to push some refs\n",
      "remote: a; remote: b; remote: c"
    ),
  ]

  @Test(arguments: cases)
  func `the reason is in the lines of git, ssh and the remote`(errors: String, reason: String) {
    #expect(FailureReason.text(in: Array(errors.utf8)) == reason)
  }

  @Test func `the reason has a limited length, and is found at both ends of a long output`() {
    let long = String(repeating: "x", count: 5000)
    #expect(FailureReason.text(in: Array("fatal: \(long)\n".utf8)).count <= 301)
    let noise = String(repeating: "remote: \(long)\n", count: 100)
    let text = FailureReason.text(in: Array("error: first\n\(noise)fatal: last\n".utf8))
    #expect(text.hasPrefix("error: first; ") && text.hasSuffix("; fatal: last") && text.count < 1300)
    #expect(!FailureReason.text(in: [0xFF, 0x0A, 0x1B]).contains("\n"))
  }
}
