internal import Arguments
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import Sync

/// `keytree merge-driver`: merges one file for git, which calls it; `clone`, `init`, `sync` and `doctor` tell git so.
enum MergeDriverCommand: Command {
  static let declaration = CommandDeclaration(
    name: "merge-driver", summary: "merge one file for git",
    details: ["For git alone: it writes the result to OURS. It does not fail for what is in the files."],
    operands: [
      OperandDeclaration("KIND", .choice(["index", "item"]), help: "what the files are"),
      OperandDeclaration("BASE", .bytes, help: "the file where both sides come from"),
      OperandDeclaration("OURS", .bytes, help: "the file on our side"),
      OperandDeclaration("THEIRS", .bytes, help: "the file on their side"),
      OperandDeclaration("PATH", .bytes, help: "the path of the file in the work tree"),
    ],
    examples: [Example("keytree merge-driver index %O %A %B %P", "as git has it in its configuration")],
    exitCodes: [1, 8], isHidden: true)

  static func run(_ call: CommandCall) throws(Failure) -> ExitCode {
    let words = call.arguments.operands
    var files: [[UInt8]] = []
    for index in 1...3 {
      guard let file = words[index].text else { throw call.misuse(.other("the name of a file is not UTF-8")) }
      let content = try UserFile.read(file, limit: Self.limit)
      files.append(unsafe content.withBytes { unsafe Array($0) })
    }
    let path = words[4].text ?? ""
    let isIndex = words[0].text == "index"
    guard let place = storePlace(path, isIndex: isIndex) else {
      throw .other(
        .failure, message: "\(ErrorReport.show(path)) is no file of a store",
        hint: "`keytree doctor` looks at what git is told")
    }
    let tree: FileTree
    do {
      tree = try FileTree(at: place.store)
    } catch {
      throw .keyring(.file(error))
    }
    let driver = MergeDriver(for: tree)
    let merged: [UInt8]
    if isIndex {
      guard let number = StoreLayout.shardNumber(place.name) else {
        throw .other(
          .failure, message: "\(ErrorReport.show(path)) is no shard of the index",
          hint: "`keytree check` looks at the store")
      }
      merged = try keyringCall(
        driver.mergeShard(base: files[0], ours: files[1], theirs: files[2], number: number))
    } else {
      var host = try call.host()
      // One dialog for each file of a merge would be a storm (threat T36); what cannot be seen is put aside.
      host.interaction = .never
      // Without the store's policy, in whatever state the merge has left it, nothing is decrypted.
      let keyring = try? Keyring.open(at: place.store, host: host)
      merged = try keyringCall(
        driver.mergeMessage(base: files[0], ours: files[1], theirs: files[2], keyring: keyring))
    }
    try UserFile.overwrite(words[2].text ?? "", merged)
    return .done
  }

  private static let limit = max(StoreLayout.shardLimit, StoreLayout.sealedItemLimit)

  /// The store's folder and the name of a file in it: of a path whose end has the form of a shard or an item, below a
  /// folder that has a policy. Git starts at the top of the work tree.
  private static func storePlace(_ path: String, isIndex: Bool) -> (store: String, name: String)? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    // `index/<hh>.jsonl`, `items/<class>/<container>/<name>.gpg`
    let depth = isIndex ? 2 : 4
    guard RelativePath.isPlain(path), parts.count >= depth else { return nil }
    let start = parts.count - depth
    guard parts[start] == (isIndex ? StoreLayout.index : StoreLayout.items) else { return nil }
    let store = start == 0 ? "." : parts[..<start].joined(separator: "/")
    guard let tree = try? FileTree(at: store), (try? tree.status(StoreLayout.policy)) ?? nil != nil else {
      return nil
    }
    return (store, parts[(start + 1)...].joined(separator: "/"))
  }
}
