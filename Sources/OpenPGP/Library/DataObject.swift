internal import CGPGME
internal import Glibc
internal import Secrets

/// A data object of libgpgme: the input or output of an operation.
@safe
struct DataObject: ~Copyable {
  let pointer: gpgme_data_t
  // Stored here because libgpgme keeps only plain pointers to them.
  private let callbacks: UnsafeMutablePointer<gpgme_data_cbs>?
  private let sink: SecretSink?

  /// Creates an object that collects output in memory. Not for plaintext: libgpgme does not wipe it.
  ///
  /// - Throws: The error of libgpgme when memory runs out.
  init() throws(EngineError) {
    var created: gpgme_data_t?
    let code = unsafe gpgme_data_new(&created)
    guard code == 0, let data = unsafe created else { throw EngineError(code) }
    unsafe pointer = data
    unsafe callbacks = nil
    sink = nil
  }

  /// Creates an object that reads from memory of the caller, without a copy.
  ///
  /// - Parameters:
  ///   - bytes: The memory, which must stay valid until the operation ends.
  ///   - isSensitive: True if libgpgme has to wipe its read buffers.
  /// - Throws: The error of libgpgme when memory runs out.
  init(reading bytes: UnsafeRawBufferPointer, isSensitive: Bool) throws(EngineError) {
    var created: gpgme_data_t?
    let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    // An empty buffer may have no address, which libgpgme would refuse.
    let code =
      if let start = unsafe start {
        unsafe gpgme_data_new_from_mem(&created, start, bytes.count, 0)
      } else {
        unsafe gpgme_data_new(&created)
      }
    guard code == 0, let data = unsafe created else { throw EngineError(code) }
    unsafe pointer = data
    unsafe callbacks = nil
    sink = nil
    if isSensitive { _ = unsafe gpgme_data_set_flag(data, "sensitive", "1") }
  }

  /// Creates an object that writes plaintext into a sink, and retains the sink.
  ///
  /// - Parameter sink: Receives the bytes.
  /// - Throws: The error of libgpgme when memory runs out.
  init(writingTo sink: SecretSink) throws(EngineError) {
    let callbacks = UnsafeMutablePointer<gpgme_data_cbs>.allocate(capacity: 1)
    unsafe callbacks.initialize(
      to: gpgme_data_cbs(read: nil, write: SecretSink.write, seek: nil, release: nil))
    var created: gpgme_data_t?
    let code = unsafe gpgme_data_new_from_cbs(
      &created, callbacks, Unmanaged.passUnretained(sink).toOpaque())
    guard code == 0, let data = unsafe created else {
      unsafe callbacks.deallocate()
      throw EngineError(code)
    }
    _ = unsafe gpgme_data_set_flag(data, "sensitive", "1")
    unsafe pointer = data
    unsafe self.callbacks = unsafe callbacks
    self.sink = sink
  }

  deinit {
    unsafe gpgme_data_release(pointer)
    unsafe callbacks?.deallocate()
  }

  /// Returns a copy of the output of an object made with `init()`.
  ///
  /// - Returns: All bytes.
  func bytes() -> [UInt8] {
    let end = unsafe gpgme_data_seek(pointer, 0, SEEK_END)
    guard end > 0, unsafe gpgme_data_seek(pointer, 0, SEEK_SET) == 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: Int(end))
    var filled = 0
    while filled < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe gpgme_data_read(pointer, buffer.baseAddress.map { unsafe $0 + filled }, buffer.count - filled)
      }
      if got <= 0 { break }
      filled += got
    }
    bytes.removeLast(bytes.count - filled)
    return bytes
  }
}

/// A buffer for plaintext from gpg, with a size limit. Its content is not authenticated before the operation has
/// succeeded, so it is returned only then, and wiped otherwise.
final class SecretSink {
  private var bytes = SecretBytes()
  private let limit: Int
  /// True if gpg wrote more than the limit. The operation was stopped.
  private(set) var exceededLimit = false

  /// Creates a sink.
  ///
  /// - Parameter limit: The maximum number of bytes.
  init(limit: Int) { self.limit = limit }

  /// The number of bytes that gpg has written.
  var count: Int { bytes.count }

  /// Returns the content and empties the sink.
  ///
  /// - Returns: The plaintext.
  func take() -> SecretBytes {
    var taken = SecretBytes()
    swap(&taken, &bytes)
    return taken
  }

  private func accept(_ buffer: UnsafeRawBufferPointer) -> Bool {
    guard buffer.count <= limit - bytes.count else {
      exceededLimit = true
      return false
    }
    unsafe bytes.append(contentsOf: buffer)
    return true
  }

  static let write: gpgme_data_write_cb_t = { handle, buffer, size in
    guard let handle = unsafe handle else { return -1 }
    let sink = unsafe Unmanaged<SecretSink>.fromOpaque(handle).takeUnretainedValue()
    if unsafe sink.accept(UnsafeRawBufferPointer(start: buffer, count: size)) { return size }
    errno = EFBIG
    return -1
  }
}
