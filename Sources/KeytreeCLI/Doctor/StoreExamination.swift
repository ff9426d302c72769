internal import CommandSupport
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import OpenPGP

/// The store checks of `doctor`: the folder, the policy, unfinished changes.
struct StoreExamination {
  let path: String
  let host: HostContext
  /// The open store; nil if it could not be opened.
  let keyring: Keyring?
  /// The reason why the store could not be opened.
  let failure: KeyringError?

  /// Opens the store, without a prompt.
  init(at path: String, host: HostContext) {
    self.path = path
    self.host = host
    do {
      keyring = try Keyring.open(at: path, host: host)
      failure = nil
    } catch {
      keyring = nil
      failure = error
    }
  }

  /// A Boolean value that indicates whether the store does not exist, which is not a problem.
  var isMissing: Bool {
    if case .noStore = failure { return true }
    return false
  }

  /// The diagnoses of the store.
  var diagnoses: [Diagnosis] {
    let place = path
    if isMissing {
      return [.note("store", "no store exists at \(place)", advice: "`keytree init` creates it")]
    }
    if let failure {
      let report = ErrorReport(failure)
      guard case .policyNotTrusted(let reason) = failure else { return [.failed("store", report)] }
      return folder + [.wrong("policy", reason.message, advice: reason.hint)]
    }
    return folder + policy + unfinished
  }

  private var folder: [Diagnosis] {
    let place = path
    guard let status = try? FileTree(at: path).rootStatus(), status.mode & 0o055 != 0 else {
      return [.ok("store", "\(place), accessible only to you")]
    }
    return [
      .note(
        "store", "\(place), other users can read its attributes (mode \(String(status.mode, radix: 8)))",
        advice: "`chmod 700 \(place)`")
    ]
  }

  private var policy: [Diagnosis] {
    guard let keyring else { return [] }
    if let distrust = keyring.distrust {
      return [.wrong("policy", distrust.message, advice: distrust.hint)]
    }
    let policy = keyring.policy
    let people = policy.people.values.count { $0.removed == nil }
    return [
      .ok(
        "policy",
        "generation \(policy.generation), accepted on this machine; \(people) "
          + "\(people == 1 ? "person" : "people")")
    ]
  }

  private var unfinished: [Diagnosis] {
    guard let index = keyring?.index, let folders = try? index.unfinishedChanges(), !folders.isEmpty else {
      return []
    }
    return [
      .note(
        "store", "a change was interrupted (\(folders.joined(separator: ", ")))",
        advice: "the next command that writes completes it or rolls it back")
    ]
  }
}
