extension Benchmark {
  /// Answering the credential requests of git.
  static let credentials = Benchmark(
    name: "credentials",
    summary: "`git credential fill` with our helper, against git-credential-store and a helper around pass"
  ) { bench, report throws(BenchmarkError) in
    let place = "\(bench.folder)/credentials"
    try Files.makeFolder(place)
    let store = try bench.makeStore("credential-store")
    try bench.add("real-3.example/alice", secret: "secret number 3", to: store)
    let helper = try bench.link("git-credential-keytree", in: place)
    let lines = (0..<lineCount).map { "https://user-\($0):secret@host-\($0).example\n" }.joined()
    try Files.write(
      Array((lines + "https://alice:secret%20number%203@real-3.example\n").utf8), to: "\(place)/file")
    try bench.makePassStore()
    try bench.output(
      of: try bench.pass(["insert", "-e", "git/real-3.example/alice"]), input: "secret number 3\n")
    let script = try bench.passHelper(in: place)

    let question = "\(place)/question"
    try Files.write(Array("protocol=https\nhost=real-3.example\nusername=alice\n\n".utf8), to: question)
    let output = "\(bench.folder)/output"
    func fill(_ setting: String, _ variables: [String] = []) throws(BenchmarkError) -> Command {
      let git = try bench.programs.find("git")
      let words = ["-c", "credential.helper=", "-c", "credential.helper=\(setting)", "credential", "fill"]
      return bench.command(git, words, variables + ["GIT_CONFIG_NOSYSTEM=1"]).reading(from: question).writing(
        to: output)
    }
    let pairs = bench.wantedPairs ?? 200
    let plain = try fill("store --file=\(place)/file")
    let passStore = try fill(script, ["PASSWORD_STORE_DIR=\(bench.folder)/pass"])
    for (title, count) in [("one item", 0), ("\(lineCount) items", lineCount)] {
      if count > 0 { try bench.fill(store, count: count) }
      let ours = try fill(helper, ["KEYTREE_STORE=\(store)"])
      let expected = "protocol=https\nhost=real-3.example\nusername=alice\npassword=secret number 3\n"
      for (name, command) in [("keytree", ours), ("git-credential-store", plain), ("pass", passStore)] {
        report.fact(
          "\(name) answers", "",
          isRight: try bench.output(of: command, input: try bench.text(question)) == expected)
      }
      let peers = [("git-credential-store", plain, 1.7), ("helper around pass", passStore, nil)]
      for (name, theirs, limit) in peers {
        let comparison = try Comparison(pairs: pairs) { _ in
          ours
        } theirs: { _ in
          theirs
        }
        report.comparison(
          "fill, \(title), against \(name)", comparison, ours: "git-credential-keytree", theirs: name,
          limit: limit)
      }
    }
  }

  private static let lineCount = 10_000
}

extension Workbench {
  /// Makes a link to the measured command under one of its other names.
  ///
  /// - Returns: The path of the link.
  func link(_ name: String, in place: String) throws(BenchmarkError) -> String {
    let path = "\(place)/\(name)"
    try output(of: command(try programs.find("ln"), ["-s", try programs.keytree(), path]))
    return path
  }

  /// Returns the text of a file.
  func text(_ path: String) throws(BenchmarkError) -> String {
    String(decoding: try Files.read(path) ?? [], as: UTF8.self)
  }

  /// Makes a typical git helper around pass: a script that finds an entry by host and user.
  ///
  /// - Returns: Its path.
  func passHelper(in place: String) throws(BenchmarkError) -> String {
    let path = "\(place)/git-credential-pass"
    let script = """
      #!/bin/sh
      [ "$1" = get ] || exit 0
      while IFS== read -r key value; do
        case $key in host) host=$value ;; username) user=$value ;; esac
      done
      echo "username=$user"
      echo "password=$(pass show "git/$host/$user" | head -n 1)"

      """
    try Files.write(Array(script.utf8), to: path)
    try output(of: command(try programs.find("chmod"), ["755", path]))
    return path
  }
}
