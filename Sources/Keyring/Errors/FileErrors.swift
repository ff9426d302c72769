/// Runs file operations and converts their errors to errors of the keyring.
func files<R: ~Copyable>(_ body: () throws(FileError) -> R) throws(KeyringError) -> R {
  do {
    return try body()
  } catch {
    throw .file(error)
  }
}

/// Runs one file operation and converts its error to an error of the keyring.
func files<R>(_ operation: @autoclosure () throws(FileError) -> R) throws(KeyringError) -> R {
  do {
    return try operation()
  } catch {
    throw .file(error)
  }
}

/// Runs file operations that follow a stored change, and converts their errors.
func finishing<R>(_ body: () throws(FileError) -> R) throws(KeyringError) -> R {
  do {
    return try body()
  } catch {
    throw .unfinished(error)
  }
}
