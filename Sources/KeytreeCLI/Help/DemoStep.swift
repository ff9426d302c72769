/// One step of the demo: a short explanation, then a command as a user would type it.
struct DemoStep {
  /// The explanation.
  let words: String
  /// The command as shown.
  let shown: String
  /// The arguments for the program.
  let arguments: [String]
  /// The standard input of the command.
  let input: String

  init(_ words: String, _ command: [String], shown: String? = nil, input: String = "") {
    self.words = words
    arguments = command
    self.shown = shown ?? "keytree " + command.joined(separator: " ")
    self.input = input
  }

  /// All steps, in order. Each one relies on the previous ones.
  static let all = [
    DemoStep(
      "A store is a folder that belongs to an OpenPGP key. The demo has just generated a key, and removes it at the "
        + "end. For your own store, `keytree init` uses your own key.", ["init"]),
    DemoStep(
      "A secret is entered at a prompt, or read from standard input up to the last byte. It is never an argument, "
        + "because other users can see arguments.", ["add", "github.com/alice", "-l", "GitHub"],
      shown: "printf %s 'correct horse' | keytree add github.com/alice -l GitHub", input: "correct horse"),
    DemoStep(
      "A secret can also be generated. It is stored without being shown.", ["generate", "bank.example/4711"]),
    DemoStep(
      "Not every secret belongs to a server. `generic:` is for all others.",
      ["add", "generic:mailer/bot", "-j", "the newsletter"],
      shown: "printf %s 'token-0815' | keytree add generic:mailer/bot -j 'the newsletter'",
      input: "token-0815"),
    DemoStep(
      "Attributes are public facts about a secret. A search is fast, because it decrypts nothing and starts no "
        + "process. `--explain` reports what a command did.", ["find", "--explain"]),
    DemoStep("A search matches any part of any attribute.", ["find", "newsletter"]),
    DemoStep(
      "Only `get` decrypts, and only the requested item.",
      ["get", "github.com/alice", "--explain"]),
    DemoStep(
      "Attributes can be changed without decrypting the secret.",
      ["set", "github.com/alice", "-j", "work account"],
      shown: "keytree set github.com/alice -j 'work account'"),
    DemoStep(
      "An item can be renamed; it keeps its id and its secret.",
      ["mv", "github.com/alice", "github.com/alice-smith"]),
    DemoStep("These are its attributes now:", ["get", "github.com", "--attributes"]),
    DemoStep(
      "Every change is a git commit. A removed item stays in the history, where it can be decrypted only with a key.",
      ["rm", "bank.example/4711"]),
    DemoStep(
      "`check` compares the index, files, recipients and signatures.", ["check", "--decrypt"]),
  ]

  /// The additional steps if git is available; `~` is the home of the demo.
  static let together = [
    DemoStep(
      "Another machine has a clone of the store; the demo uses another folder. The people in the store are already "
        + "accepted here. On another machine, `clone` asks you to compare their fingerprints.",
      ["clone", "~/store", "~/other"]),
    DemoStep(
      "Now both folders change the same secret, first this one,",
      ["set", "github.com/alice-smith", "--secret"],
      shown: "printf %s 'battery staple' | keytree set github.com/alice-smith --secret",
      input: "battery staple"),
    DemoStep(
      "and a moment later the other one.",
      ["--store", "~/other", "set", "github.com/alice-smith", "--secret"],
      shown: "printf %s 'tin roof' | keytree --store ~/other set github.com/alice-smith --secret",
      input: "tin roof"),
    DemoStep(
      "`sync` merges the changes. The later secret is current, and the earlier one is kept as a conflict copy. Here "
        + "nothing is pushed, because git does not push to a branch that is checked out.",
      ["--store", "~/other", "sync", "--pull-only"]),
    DemoStep(
      "`resolve` lists the conflicts and resolves them. Here the item stays as it is.",
      ["--store", "~/other", "resolve", "github.com/alice-smith", "--keep", "ours"]),
  ]

  /// Returns the steps in which a person joins the store and leaves it.
  ///
  /// - Parameter colleague: the fingerprint of a key that was generated for this purpose.
  static func team(_ colleague: String) -> [DemoStep] {
    [
      DemoStep(
        "A colleague joins a group. You give the fingerprint of a key in your GnuPG keyring, or a key file. All items "
          + "of the group are re-encrypted in one commit.", ["group", "add", "default", colleague]),
      DemoStep(
        "`who` reads from the encrypted file who can decrypt an item.", ["who", "github.com/alice-smith"]),
      DemoStep(
        "When a member leaves, all items are re-encrypted for the others.",
        ["group", "remove", "default", "bob@example.org"]),
      DemoStep(
        "The former member may have kept secrets. The history shows which ones, without decrypting them. A secret "
          + "leaves the list when it is changed.", ["rotate", "status"]),
    ]
  }
}
