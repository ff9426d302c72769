/// Runs file operations; what they throw becomes the keyring's error.
func files<R: ~Copyable>(_ body: () throws(FileError) -> R) throws(KeyringError) -> R {
  do {
    return try body()
  } catch {
    throw .file(error)
  }
}

/// One file operation; what it throws becomes the keyring's error.
func files<R>(_ operation: @autoclosure () throws(FileError) -> R) throws(KeyringError) -> R {
  do {
    return try operation()
  } catch {
    throw .file(error)
  }
}
