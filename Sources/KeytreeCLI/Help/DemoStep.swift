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
      "A store is a folder, and it belongs to an OpenPGP key. Here it is a key that was made a moment ago and "
        + "goes away with the demo; at home `keytree init` takes yours.", ["init"]),
    DemoStep(
      "A secret is asked for at a prompt, or read from standard input to the last byte. It is never an "
        + "argument, which others could see.", ["add", "github.com/alice", "-l", "GitHub"],
      shown: "printf %s 'correct horse' | keytree add github.com/alice -l GitHub", input: "correct horse"),
    DemoStep("It can also be made by chance. Then nobody has to see it.", ["generate", "bank.example/4711"]),
    DemoStep(
      "Not every secret belongs to a server: `generic:` is for all the others.",
      ["add", "generic:mailer/bot", "-j", "the newsletter"],
      shown: "printf %s 'token-0815' | keytree add generic:mailer/bot -j 'the newsletter'",
      input: "token-0815"),
    DemoStep(
      "Attributes are public facts about a secret, and quick to search: nothing is decrypted for it, and no "
        + "process is started. `--explain` tells what a command did.", ["find", "--explain"]),
    DemoStep("Any part of any attribute finds an item.", ["find", "newsletter"]),
    DemoStep(
      "Only `get` decrypts, and only the one item that was asked for.",
      ["get", "github.com/alice", "--explain"]),
    DemoStep(
      "Attributes are changed without touching the secret.",
      ["set", "github.com/alice", "-j", "work account"],
      shown: "keytree set github.com/alice -j 'work account'"),
    DemoStep(
      "An item can be renamed; it keeps its id and its secret.",
      ["mv", "github.com/alice", "github.com/alice-smith"]),
    DemoStep("What is known about it now:", ["get", "github.com", "--attributes"]),
    DemoStep(
      "Every change is a commit of git, so that what is removed stays in the history; only a key opens it.",
      ["rm", "bank.example/4711"]),
    DemoStep(
      "`check` holds index, files, recipients and signatures against each other.", ["check", "--decrypt"]),
  ]

  /// The further steps if git is available; `~` is the home of the demo.
  static let together = [
    DemoStep(
      "Another machine has a clone of the store; here it is another folder. The people in it are accepted already. "
        + "Elsewhere `clone` asks you to compare their fingerprints.", ["clone", "~/store", "~/other"]),
    DemoStep(
      "Now both change the same secret, the first one,", ["set", "github.com/alice-smith", "--secret"],
      shown: "printf %s 'battery staple' | keytree set github.com/alice-smith --secret",
      input: "battery staple"),
    DemoStep(
      "and a moment later the other one.",
      ["--store", "~/other", "set", "github.com/alice-smith", "--secret"],
      shown: "printf %s 'tin roof' | keytree --store ~/other set github.com/alice-smith --secret",
      input: "tin roof"),
    DemoStep(
      "`sync` brings them together. The later secret has the place, and the earlier one is kept as a conflict copy. "
        + "Here nothing is sent back, since git does not push into a folder that is in use.",
      ["--store", "~/other", "sync", "--pull-only"]),
    DemoStep(
      "`resolve` lists what is in conflict, and settles it: here the item stays as it is.",
      ["--store", "~/other", "resolve", "github.com/alice-smith", "--keep", "ours"]),
  ]

  /// Returns the steps in which a person joins the store and leaves it.
  ///
  /// - Parameter colleague: the fingerprint of a key that was generated for this purpose.
  static func team(_ colleague: String) -> [DemoStep] {
    [
      DemoStep(
        "A colleague is let in by the fingerprint of a key, from your own GnuPG keyring or from a file: every item of "
          + "the group is sealed again, in one commit.", ["group", "add", "default", colleague]),
      DemoStep("Who can decrypt an item is told by its packets.", ["who", "github.com/alice-smith"]),
      DemoStep(
        "When somebody leaves, everything is sealed again for the others.",
        ["group", "remove", "default", "bob@example.org"]),
      DemoStep(
        "That takes nothing back which was read before. The history tells which secrets these are, without "
          + "decrypting any; each one is off the list as soon as it is changed.", ["rotate", "status"]),
    ]
  }
}
