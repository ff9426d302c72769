internal import Arguments

extension Program {
  /// The commands by purpose, for help. Commands that are missing here are listed at the end.
  static let topics: [CommandTopic] = [
    CommandTopic("Start", ["demo", "init", "clone", "import", "doctor", "config", "completions"]),
    CommandTopic("Every day", ["add", "generate", "find", "show", "get", "pick", "otp"]),
    CommandTopic("Change", ["set", "edit", "mv", "cp", "rm", "undelete", "history"]),
    CommandTopic("Share", ["sync", "status", "resolve", "adopt", "git"]),
    CommandTopic("Team", ["trust", "group", "who", "policy", "rotate"]),
    CommandTopic("Check", ["check", "verify", "audit"]),
    CommandTopic(
      "Programs", ["run", "inject", "read", "credential", "browser-host", "secret-service"]),
    CommandTopic("More", ["export", "help", "version"]),
  ]

  /// The first commands of a user who has no store yet.
  static let beginning = [
    Example("keytree demo", "shows everything in a temporary store"),
    Example("keytree init", "creates your store for your OpenPGP key"),
    Example("keytree clone URL", "copies a store from another machine or a team"),
    Example("keytree import FILE", "then imports your passwords, for example from pass or a browser"),
  ]
}
