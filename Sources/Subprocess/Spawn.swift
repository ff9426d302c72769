internal import CSystem
internal import Glibc

extension ProgramRun {
  /// Starts the program on the standard streams of this process. The caller waits for its end; `waitpid(2)`.
  ///
  /// - Returns: The id of the process.
  /// - Throws: `notFound`, `notExecutable`, `containsNUL`, `systemCall`.
  package func startOnStandardStreams() throws(ProcessError) -> Int32 {
    try spawn(input: .copying(0), output: .copying(1), errors: .copying(2))
  }

  /// Starts the program with files as its standard streams. The caller waits for its end; `wait4(2)`.
  ///
  /// - Parameters:
  ///   - input: The path of the file that it reads.
  ///   - output: The path of the file that it writes, which is created or emptied.
  ///   - errors: The same for its standard error.
  /// - Returns: The id of the process.
  /// - Throws: `notFound`, `notExecutable`, `containsNUL`, `systemCall`.
  package func start(input: String, output: String, errors: String) throws(ProcessError) -> Int32 {
    let flags = O_WRONLY | O_CREAT | O_TRUNC
    return try spawn(
      input: .opening(input, O_RDONLY), output: .opening(output, flags), errors: .opening(errors, flags))
  }

  /// Starts the program.
  ///
  /// - Parameters:
  ///   - input: The standard input of the program. This process closes its copies of all three.
  ///   - output: The standard output of the program.
  ///   - errors: The standard error of the program.
  /// - Returns: The process id.
  /// - Throws: `notFound`, `notExecutable`, `containsNUL`, `systemCall`.
  func spawn(
    input: consuming Descriptor, output: consuming Descriptor, errors: consuming Descriptor
  ) throws(ProcessError) -> Int32 {
    let words = [Array(program.utf8)] + arguments
    let texts = words + environment.entries + [Array((folder ?? "").utf8)]
    guard !texts.contains(where: { $0.contains(0) }) else { throw .containsNUL(program: program) }
    // The system would resolve a relative path in the working directory of the child.
    guard program.hasPrefix("/") else { throw .notFound(program: program) }

    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input.number, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output.number, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, errors.number, 2)
    unsafe keytree_spawn_close_from(&actions, Descriptor.firstFree)
    if let folder { _ = unsafe keytree_spawn_chdir(&actions, folder) }

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    setSignalsAndGroup(of: &attributes)

    let (list, variables) = (CStringList(words), CStringList(environment.entries))
    var process: pid_t = 0
    let problem = unsafe posix_spawn(
      &process, program, &actions, &attributes, list.pointers, variables.pointers)
    guard problem == 0 else { throw failure(problem) }
    // The limit is set after the start, when the program has allocated hardly any memory, and is inherited by the
    // programs that it starts. The call fails only if the program has already ended.
    if let memoryLimit { _ = keytree_limit_memory(process, memoryLimit) }
    return process
  }

  private func setSignalsAndGroup(of attributes: inout posix_spawnattr_t) {
    var (none, defaults) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe sigfillset(&defaults)
    // Signals from the keyboard and at the end of a terminal session: if this process ignores them, its children do,
    // too.
    for signal in [SIGHUP, SIGINT, SIGQUIT] { unsafe sigdelset(&defaults, signal) }
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let group = self.group == .own ? POSIX_SPAWN_SETPGROUP : 0
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group))
  }

  /// Converts an error number of `posix_spawn(3)`, which can come from any step in the child.
  private func failure(_ number: Int32) -> ProcessError {
    if let folder, unsafe access(folder.isEmpty ? "" : folder + "/.", X_OK) != 0 {
      return .systemCall(action: "enter", path: folder, errno: errno)
    }
    switch number {
    case ENOENT where unsafe access(program, F_OK) != 0, ENOTDIR: return .notFound(program: program)
    // ENOENT for an existing file means that it is a script whose interpreter is missing.
    case ENOENT, EACCES, ENOEXEC, ELIBBAD, ETXTBSY, ELOOP:
      return .notExecutable(program: program, errno: number)
    default: return .systemCall(action: "start", path: program, errno: number)
    }
  }
}
