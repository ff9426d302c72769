internal import Arguments
internal import CommandSupport
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// `keytree merge-driver`: merges one file for git. `clone`, `init`, `sync` and `doctor` configure git to call it.
enum MergeDriverCommand: Command {
  static let declaration = CommandDeclaration(
    name: "merge-driver", summary: "merge one file for git",
    details: ["Only for git. Writes the result to OURS. Conflicting contents do not make it fail."],
    operands: [
      OperandDeclaration("KIND", .choice(["index", "item", "record"]), help: "the kind of the files"),
      OperandDeclaration("BASE", .bytes, help: "the file of the common ancestor"),
      OperandDeclaration("OURS", .bytes, help: "our version of the file"),
      OperandDeclaration("THEIRS", .bytes, help: "their version of the file"),
      OperandDeclaration("PATH", .bytes, help: "the path of the file in the work tree"),
    ],
    examples: [Example("keytree merge-driver index %O %A %B %P", "the command in the configuration of git")],
    exitCodes: [1, 8], isHidden: true)

  static func run(_ call: CommandCall) throws -> ExitCode {
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
      throw CommandError.other(
        .failure, message: "\(path) is not a file of a store",
        hint: "`keytree doctor` checks the configuration of the repository")
    }
    let tree = try FileTree(at: place.store)
    let driver = MergeDriver(for: tree) { try head(of: place.store, call) }
    let merged: [UInt8]
    do {
      merged = try merge(files, words[0].text ?? "", place.name, driver)
    } catch let error as any ReportableError {
      throw error
    } catch {
      throw CommandError.other(
        .failure, message: "\(path) is not a file of a store",
        hint: "`keytree check` checks the store")
    }
    try UserFile.overwrite(words[2].text ?? "", merged)
    return .done
  }

  private static func merge(
    _ files: [[UInt8]], _ kind: String, _ name: String, _ driver: MergeDriver
  ) throws -> [UInt8] {
    let (base, ours, theirs) = (files[0], files[1], files[2])
    switch kind {
    case "index":
      guard let number = StoreLayout.shardNumber(name) else {
        throw CommandError.other(
          .failure, message: "\(name) is not a shard of the index",
          hint: "`keytree check` checks the store")
      }
      return try driver.mergeShard(base: base, ours: ours, theirs: theirs, number: number)
    case "record":
      guard let path = StoreLayout.itemPath(ofFile: "\(StoreLayout.items)/\(name)") else {
        throw CommandError.other(
          .failure, message: "\(name) is not the record of an item",
          hint: "`keytree check` checks the store")
      }
      return try driver.mergeRecord(base: base, ours: ours, theirs: theirs, at: path)
    default: return try driver.mergeMessage(base: base, ours: ours, theirs: theirs)
    }
  }

  /// Returns the commit that is checked out, or an empty string if there is none.
  private static func head(of store: String, _ call: CommandCall) throws -> String {
    guard let repository = try Repository.find(store: store, git: call.git(in:)) else { return "" }
    return try repository.head() ?? ""
  }

  private static let limit = max(StoreLayout.shardLimit, StoreLayout.sealedItemLimit)

  /// Returns the store's folder and the name of a file in it, for a path whose end has the form of a shard or an item,
  /// below a folder that contains a policy. Git's paths start at the top of the work tree.
  private static func storePlace(_ path: String, isIndex: Bool) -> (store: String, name: String)? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard RelativePath.isPlain(path) else { return nil }
    // `index/<hh>.jsonl`, `items/<class>/<container>/<account>.gpg`, and one folder more for a field.
    for depth in isIndex ? [2] : [4, 5] where parts.count >= depth {
      let start = parts.count - depth
      guard parts[start] == (isIndex ? StoreLayout.index : StoreLayout.items) else { continue }
      let store = start == 0 ? "." : parts[..<start].joined(separator: "/")
      guard let tree = try? FileTree(at: store), (try? tree.status(StoreLayout.policy)) ?? nil != nil else {
        continue
      }
      return (store, parts[(start + 1)...].joined(separator: "/"))
    }
    return nil
  }
}
