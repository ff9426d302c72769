extension Benchmark {
  /// The cost of fetching a small hostile push.
  static let bombs = Benchmark(
    name: "bombs",
    summary:
      "time and memory of `keytree sync` and `keytree clone` for pushes that are crafted to exhaust both",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeStore("bombs")
    try bench.add("first.example/alice", secret: Workbench.longSecret, to: store)
    let hub = "\(bench.folder)/bombs.git"
    _ = try bench.output(of: bench.git(["init", "-q", "--bare", "-b", "main", hub], in: bench.folder))
    _ = try bench.output(of: bench.keytree(["git", "init"], store: store))
    _ = try bench.output(of: bench.keytree(["git", "remote", "add", "origin", hub], store: store))
    _ = try bench.output(of: bench.keytree(["sync"], store: store))
    for bomb in Bomb.all {
      let (place, target) = ("\(bench.folder)/bomb.git", "\(bench.folder)/bomb")
      for path in [place, target] { Files.remove(path) }
      try bench.copy(hub, to: place)
      try bench.copy(store, to: target)
      _ = try bench.output(of: bench.command("/bin/sh", ["-ec", "cd '\(place)'\n\(bomb.script)"]))
      _ = try bench.output(of: bench.git(["remote", "set-url", "origin", place], in: target))
      let pushed = try bench.output(of: bench.command("/usr/bin/du", ["-sk", "\(place)/objects"]))
      report.line("\(bomb.name), \(pushed.prefix { $0 != "\t" }) KB pushed")
      let copy = "\(bench.folder)/bomb-clone"
      Files.remove(copy)
      for (name, command) in [
        ("sync", bench.keytree(["sync", "--pull-only"], store: target)),
        ("clone", bench.keytree(["clone", place, copy], store: target)),
      ] {
        let outcome = try ChildProcess.run(command)
        report.amount(
          "\(name), seconds (\(outcome.ending))", Report.number(outcome.seconds, 2), value: outcome.seconds,
          limit: 2,
          limitText: "2")
        report.amount(
          "\(name), peak memory", Report.memory(outcome.peakMemory), value: Double(outcome.peakMemory),
          limit: 100_000_000, limitText: "100 MB")
      }
    }
  }
}

/// A push that costs its receivers more than its sender.
private struct Bomb {
  /// The description of its content.
  let name: String
  /// The `sh` script that creates the push in a bare repository.
  let script: String

  static let all = [
    Bomb(
      name: "one item of 900 MB", script: commits("size=900000000; file items/generic-password/b/l.gpg 0")),
    Bomb(
      name: "900 items of 1 MB each",
      script: commits(
        "size=1000000; for i in $(seq 900); do file items/generic-password/b/$i.gpg $i; done")),
    Bomb(
      name: "900 items of 1 MB that are stored as deltas",
      script: commits(
        "size=1000000; for i in $(seq 900); do file items/generic-password/b/$i.gpg $i; done")
        + "\ngit repack -q -a -d -f"),
    Bomb(
      name: "500 policies of 1 MB each, one after another",
      script: commits(
        "size=1000000; for i in $(seq 500); do [ $i = 1 ] || header; file policy.json $i; done")),
    Bomb(
      name: "an item of 300 MB that is stored as a delta of another one",
      script: commits(
        "size=300000000; for i in 1 2; do file items/generic-password/b/$i.gpg $i; done")
        + "\ngit -c core.bigFileThreshold=2g -c pack.window=2 repack -q -a -d -f"),
    Bomb(
      name: "a tree of ten billion names",
      script: """
        tree=$(for i in $(seq 100); do printf '100644 blob %s\\t%s.gpg\\n' $(echo x | git hash-object -w --stdin) $i; done | git mktree)
        for level in 1 2 3 4; do
          tree=$(for i in $(seq 100); do printf '040000 tree %s\\t%s\\n' $tree $i; done | git mktree)
        done
        items=$( (git ls-tree main:items; printf '040000 tree %s\\tbomb\\n' $tree) | git mktree)
        top=$( (git ls-tree main | grep -v 'items$'; printf '040000 tree %s\\titems\\n' $items) | git mktree)
        git update-ref refs/heads/main $(git -c user.name=X -c user.email=x@example.org commit-tree -p main -m x $top)
        """),
  ]

  /// Returns the script that adds commits after the last one.
  ///
  /// - Parameter body: Commands that print the changes of the first commit, and any further commits, each after
  ///   `header`.
  private static func commits(_ body: String) -> String {
    """
    header() {
      printf 'commit refs/heads/main\\ncommitter X <x@example.org> 1 +0000\\ndata 1\\nx\\n'
      if [ -z "$begun" ]; then printf 'from refs/heads/main^0\\n'; begun=1; fi
    }
    file() {
      printf 'M 100644 inline %s\\ndata %d\\n%08d' "$1" $size "$2"
      head -c $((size - 8)) /dev/zero
      echo
    }
    (header; \(body); printf 'done\\n') | git fast-import --quiet --done
    """
  }
}
