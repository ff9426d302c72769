import Foundation

/// Builds the states that a power cut may leave in a folder from the system calls of a program and its children, as
/// strace records them.
///
/// Names are assumed to reach the disk in the order of the calls, because git relies on this for its own files.
package struct TracedPowerCut {
  /// A trace that this type cannot follow.
  package struct UnknownCall: Error, CustomStringConvertible {
    package let description: String
  }

  /// The calls that are followed.
  private static let followed =
    "openat,open,creat,read,write,pwrite64,writev,lseek,ftruncate,rename,renameat,renameat2,link,linkat,symlink,"
    + "unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,sync,syncfs"
  /// Calls that are not supported: a trace in which one of them uses a path in the folder is rejected.
  private static let rejected =
    "truncate,pwritev,pwritev2,symlinkat,copy_file_range,sendfile,fallocate,mmap"

  private let folder: String
  private let log: String
  private var disk = DiskModel(order: .journaled)
  private var next: Int
  /// The offsets of the file descriptors that can write, by path and number.
  private var offsets: [String: [Int: Int]] = [:]
  private var appended: Set<String> = []

  /// - Parameters:
  ///   - folder: The absolute path of the folder, whose content counts as flushed.
  ///   - log: The file for the trace.
  package init(of folder: String, log: String) {
    (self.folder, self.log) = (folder, log)
    var reading = FolderReading()
    reading.read(folder)
    disk.set(reading.paths, contents: reading.contents)
    disk.flushAll()
    next = (reading.paths.values.max() ?? DiskModel.root) + 1
  }

  /// The arguments with which strace records a program.
  package var options: [String] {
    [
      "-f", "-qq", "-y", "-xx", "-s", "100000000", "-e", "signal=none", "-e",
      "trace=\(Self.followed),\(Self.rejected)", "-o",
      log,
    ]
  }

  /// Reads the trace of a program that has ended.
  ///
  /// - Parameter samples: Returns true for the numbers of operations after which the power is cut. It is also cut at the
  ///   end.
  /// - Returns: The number of operations in the folder, and all states.
  /// - Throws: `UnknownCall` if a call is not understood, or the files after the last call are not those of the folder.
  package mutating func finish(samples: (Int) -> Bool) throws -> (operations: Int, disks: [DiskState]) {
    var count = 0
    var last = "nothing"
    for call in try SystemCall.calls(inLog: log) {
      guard try apply(call) else { continue }
      count += 1
      last = "\(call.name) \(call.strings.first.flatMap { $0.count < 200 ? text($0) : nil } ?? "")"
      if samples(count) { disk.addStates(after: count, last, isDone: false) }
    }
    disk.addStates(after: count, last, isDone: true)
    try compare()
    return (count, disk.states)
  }

  /// Compares the files with those of the folder, so that no change was overlooked.
  private func compare() throws {
    var reading = FolderReading()
    reading.read(folder)
    let real = reading.paths.mapValues { reading.contents[$0] }
    let modelled = disk.paths.mapValues { disk.contents[$0] }
    let different = Set(real.keys).union(modelled.keys).filter { real[$0] != modelled[$0] }
    guard different.isEmpty else { throw UnknownCall(description: "not followed: \(different.sorted())") }
  }

  // MARK: Calls

  /// Notes the effect of a call.
  ///
  /// - Returns: False if it does not change the folder.
  private mutating func apply(_ call: SystemCall) throws -> Bool {
    guard call.result >= 0 else { return false }
    switch call.name {
    case "openat", "open", "creat": return open(call)
    case "write", "pwrite64", "writev": return try write(call)
    case "lseek":
      if let path = path(call.file) { offsets[path]?[call.descriptor] = call.result }
      return false
    case "read":
      if let path = path(call.file) { offsets[path]?[call.descriptor]? += call.result }
      return false
    case "ftruncate":
      guard let path = path(call.file), let number = disk.paths[path] else { return false }
      guard let size = call.lastNumber else { throw UnknownCall(description: call.name) }
      let old = (disk.contents[number] ?? []).prefix(size)
      disk.setContent(old + [UInt8](repeating: 0, count: size - old.count), of: number)
    case "rename", "renameat", "renameat2": return try move(call)
    case "link", "linkat": return try link(call)
    case "symlink": return create(path(call, at: 1), content: [])
    case "mkdir", "mkdirat": return create(path(call, at: 0), content: nil)
    case "unlink", "unlinkat", "rmdir":
      guard let path = path(call, at: 0) else { return false }
      var paths = disk.paths
      guard paths.removeValue(forKey: path) != nil else { throw UnknownCall(description: "unlink \(path)") }
      disk.set(paths)
    case "fsync", "fdatasync":
      guard let path = path(call.file) else { return false }
      guard let number = path.isEmpty ? DiskModel.root : disk.paths[path] else {
        throw UnknownCall(description: "fsync \(path)")
      }
      disk.flush(number)
    case "syncfs":
      guard path(call.file) != nil else { return false }
      disk.flushAll()
    case "sync": disk.flushAll()
    case "mmap":
      let isWritten = call.text.contains("PROT_WRITE") && call.text.contains("MAP_SHARED")
      guard path(call.file) == nil || !isWritten else { throw UnknownCall(description: "mmap") }
      return false
    default:
      guard path(call.file) == nil, !call.strings.contains(where: { path($0, in: nil) != nil }) else {
        throw UnknownCall(description: call.name)
      }
      return false
    }
    return true
  }

  private mutating func open(_ call: SystemCall) -> Bool {
    guard ["O_CREAT", "O_WRONLY", "O_RDWR"].contains(where: call.text.contains) || call.name == "creat",
      let path = path(call, at: 0), !path.isEmpty
    else { return false }
    offsets[path, default: [:]][call.result] = 0
    appended.remove(path)
    if call.text.contains("O_APPEND") { appended.insert(path) }
    guard let number = disk.paths[path] else { return create(path, content: []) }
    guard call.text.contains("O_TRUNC") || call.name == "creat" else { return false }
    disk.setContent([], of: number)
    return true
  }

  private mutating func write(_ call: SystemCall) throws -> Bool {
    guard let path = path(call.file), let number = disk.paths[path], var content = disk.contents[number]
    else {
      return false
    }
    let bytes = call.strings.flatMap { $0 }.prefix(call.result)
    let known = call.name == "pwrite64" ? call.lastNumber : offsets[path]?[call.descriptor]
    guard var offset = known else { throw UnknownCall(description: "\(call.name) \(path)") }
    // Linux appends in pwrite(2), too (BUGS).
    if appended.contains(path) { offset = content.count }
    if offset > content.count { content += [UInt8](repeating: 0, count: offset - content.count) }
    content.replaceSubrange(offset..<min(content.count, offset + bytes.count), with: bytes)
    if call.name != "pwrite64" { offsets[path]?[call.descriptor] = offset + bytes.count }
    disk.setContent(content, of: number)
    return true
  }

  private mutating func create(_ path: String?, content: [UInt8]?) -> Bool {
    guard let path, !path.isEmpty else { return false }
    var paths = disk.paths
    paths[path] = next
    disk.set(paths, contents: content.map { [next: $0] } ?? [:])
    next += 1
    return true
  }

  private mutating func move(_ call: SystemCall) throws -> Bool {
    if call.text.contains("RENAME_EXCHANGE") { throw UnknownCall(description: call.name) }
    guard let (old, new) = try ends(of: call) else { return false }
    var paths = disk.paths
    for (path, number) in disk.paths where path == old || path.hasPrefix(old + "/") {
      paths[path] = nil
      paths[new + path.dropFirst(old.count)] = number
      offsets[new + path.dropFirst(old.count)] = offsets.removeValue(forKey: path)
    }
    disk.set(paths)
    return true
  }

  private mutating func link(_ call: SystemCall) throws -> Bool {
    guard let (old, new) = try ends(of: call) else { return false }
    var paths = disk.paths
    paths[new] = paths[old]
    disk.set(paths)
    return true
  }

  /// The two paths of a call; nil if neither is in the folder.
  private func ends(of call: SystemCall) throws -> (String, String)? {
    let (old, new) = (path(call, at: 0), path(call, at: 1))
    if old == nil && new == nil { return nil }
    guard let old, let new, disk.paths[old] != nil else {
      throw UnknownCall(description: "\(call.name) \(old ?? "outside") \(new ?? "outside")")
    }
    return (old, new)
  }

  // MARK: Paths

  /// The path of an argument below the folder; nil if it is elsewhere.
  private func path(_ call: SystemCall, at index: Int) -> String? {
    guard call.strings.indices.contains(index) else { return nil }
    let base =
      call.descriptorPaths.isEmpty ? nil : call.descriptorPaths[min(index, call.descriptorPaths.count - 1)]
    return path(call.strings[index], in: base)
  }

  private func path(_ bytes: [UInt8], in base: String?) -> String? {
    let text = text(bytes)
    if text.hasPrefix("/") { return path(text) }
    if let base { return path("\(base)/\(text)") }
    // The git that works in the folder names its own files in this way. Other relative paths are of processes that work
    // elsewhere.
    return text.hasPrefix(".git/") ? path("\(folder)/\(text)") : nil
  }

  private func path(_ absolute: String?) -> String? {
    guard let absolute else { return nil }
    let clean = URL(fileURLWithPath: absolute).standardized.path
    if clean == folder { return "" }
    return clean.hasPrefix(folder + "/") ? String(clean.dropFirst(folder.count + 1)) : nil
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// A system call in the output of `strace -f -y -xx`.
private struct SystemCall {
  let name: String
  /// The arguments and the result, as strace prints them.
  let text: Substring
  /// The result; -1 after an error.
  let result: Int
  /// The quoted strings.
  let strings: [[UInt8]]
  /// The paths of the file descriptors among the arguments, without those of deleted files.
  let descriptorPaths: [String]

  /// The number of the file descriptor that is the first argument; -1 if it is none.
  let descriptor: Int

  /// The path of the first file descriptor.
  var file: String? { descriptorPaths.first }

  /// The last argument, if it is a number.
  var lastNumber: Int? {
    guard let end = text.range(of: ")", options: .backwards)?.lowerBound else { return nil }
    return text[..<end].split(separator: " ").last.flatMap { Int($0) }
  }

  /// Reads all calls of a log.
  static func calls(inLog log: String) throws -> [SystemCall] {
    var unfinished: [Substring: Substring] = [:]
    var calls: [SystemCall] = []
    let text = try String(contentsOfFile: log, encoding: .utf8)
    for line in text.split(separator: "\n") {
      guard let space = line.firstIndex(of: " ") else { continue }
      let thread = line[..<space]
      var rest = line[space...].drop { $0 == " " }
      if let range = rest.range(of: " <unfinished ...>") {
        unfinished[thread] = rest[..<range.lowerBound]
        continue
      }
      if rest.hasPrefix("<... "), let range = rest.range(of: " resumed>") {
        rest = (unfinished.removeValue(forKey: thread) ?? "") + rest[range.upperBound...]
      }
      if let call = SystemCall(rest) { calls.append(call) }
    }
    return calls
  }

  private init?(_ line: Substring) {
    guard let open = line.firstIndex(of: "("), let equals = line.range(of: " = ", options: .backwards) else {
      return nil
    }
    name = String(line[..<open])
    text = line[..<equals.lowerBound]
    let value = line[equals.upperBound...].prefix { $0 == "-" || $0.isNumber }
    // "?" is the result of a call during which the process ended.
    result = Int(value) ?? -1
    let arguments = text[line.index(after: open)...]
    descriptor = Int(arguments.prefix { $0.isNumber }) ?? -1
    var (strings, paths): ([[UInt8]], [String]) = ([], [])
    var index = arguments.startIndex
    while index < arguments.endIndex {
      let closing: Character? =
        switch arguments[index] {
        case "\"": "\""
        case "<": ">"
        default: nil
        }
      index = arguments.index(after: index)
      guard let closing, let end = arguments[index...].firstIndex(of: closing) else { continue }
      let bytes = Self.bytes(arguments[index..<end])
      index = arguments.index(after: end)
      if closing == "\"" {
        strings.append(bytes)
      } else if !arguments[index...].hasPrefix("(deleted)") {
        paths.append(String(decoding: bytes, as: UTF8.self))
      }
    }
    (self.strings, descriptorPaths) = (strings, paths)
  }

  /// The bytes of a text in which each byte is written as `\x` and two digits.
  private static func bytes(_ text: Substring) -> [UInt8] {
    text.utf8.split(separator: UInt8(ascii: "\\")).compactMap { part in
      UInt8(String(decoding: part.dropFirst(), as: UTF8.self), radix: 16)
    }
  }
}
