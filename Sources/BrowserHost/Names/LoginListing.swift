package import Encoding
internal import KeyringModel

/// The answers to `list` and `tree`, made from the index alone.
package struct LoginListing: Sendable {
  /// The largest total size of the names, with quotes and commas, in bytes. The answer has a few bytes more.
  package static let limit = 1_000_000

  /// The names of the files, sorted.
  package let files: [[UInt8]]
  /// The number of logins that do not fit.
  package let omitted: Int

  /// Makes the listing of logins. If not all fit, those that were changed last are listed.
  ///
  /// - Parameters:
  ///   - names: The logins with their names.
  ///   - limit: The largest total size.
  package init(_ names: LoginNames, limit: Int = LoginListing.limit) {
    var files = names.entries.map { ($0.login.record.modified, $0.name.file) }
    // An escape needs two bytes, and only quotation marks are escaped: backslashes and control characters are not in names.
    let size = { (file: [UInt8]) in file.count + file.count { $0 == UInt8(ascii: "\"") } + 3 }
    var room = limit - files.reduce(0) { $0 + size($1.1) }
    let total = files.count
    if room < 0 {
      files.sort { $0.0 > $1.0 }
      while room < 0, let last = files.popLast() { room += size(last.1) }
    }
    self.files = files.map { OrderedBytes($0.1) }.sorted().map(\.bytes)
    omitted = total - files.count
  }

  /// The folders of the files, sorted; each once.
  package var folders: [[UInt8]] {
    var folders: Set<[UInt8]> = []
    for file in files {
      let isInFolder = file.contains(UInt8(ascii: "/"))
      folders.insert(
        isInFolder
          ? Array(file.prefix { $0 != UInt8(ascii: "/") }) : Array(file.dropLast(LoginName.ending.count)))
    }
    return folders.map(OrderedBytes.init).sorted().map(\.bytes)
  }

  /// Returns the data of an answer about stores.
  ///
  /// - Parameters:
  ///   - member: The name of the member: `files` or `directories`.
  ///   - lists: The names in each store.
  package static func data(_ member: String, _ lists: [(id: String, names: [[UInt8]])]) -> JSONValue {
    let stores = lists.map { id, names in
      JSONMember(id, .array(names.map { .string(String(decoding: $0, as: UTF8.self)) }))
    }
    return .object([JSONMember(member, .object(stores))])
  }
}
