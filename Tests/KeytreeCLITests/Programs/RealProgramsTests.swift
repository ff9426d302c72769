import Foundation
import TestSupport
import Testing

/// Programs that run a command and read a password from it, each with the one line of configuration that it needs.
@Suite(.serialized, .slow, .waits) struct RealProgramsTests {
  /// A secret with characters that are special in programs, shells and formats.
  static let secret = "open  se\"s'a$me\\ é"
  private let home: ProgramsHome

  init() throws { home = try ProgramsHome() }

  // MARK: Backup programs

  @Test(.enabled(if: RealProgram.has("restic"), "restic is not installed"))
  func `restic opens its repository with a secret from keytree`() throws {
    try home.add(["generic:restic/repo"], Self.secret)
    try home.add(["--service=restic", "--account=-x y"], "another")
    let restic = { (command: String) in
      try home.run(
        ["restic", "--quiet", "snapshots"],
        variables: ["RESTIC_REPOSITORY": "repository", "RESTIC_PASSWORD_COMMAND": command])
    }
    // The repository is created with the secret itself, so that only exactly this secret opens it.
    try home.succeed(
      ["restic", "--quiet", "init"],
      variables: ["RESTIC_REPOSITORY": "repository", "RESTIC_PASSWORD": Self.secret])
    let opened = try restic("keytree get generic:restic/repo")
    #expect(opened.status == 0 && opened.errors == "", "\(opened.errors)")
    #expect(try restic("keytree get keytree://generic-password/restic/repo").status == 0)
    let wrong = try restic("keytree get --service=restic '--account=-x y'")
    #expect(wrong.status != 0 && wrong.errors.contains("wrong password"), "\(wrong.errors)")
    let missing = try restic("keytree get generic:restic/none")
    #expect(missing.status != 0 && missing.errors.contains("exit status 4"), "\(missing.errors)")
  }

  @Test(.enabled(if: RealProgram.has("borg"), "borg is not installed"))
  func `borg opens its repository with a secret from keytree`() throws {
    try home.add(["generic:borg/repo"], Self.secret)
    try home.add(["--service=borg", "--account=\(ProgramsHome.oddName)"], Self.secret)
    try home.add(["generic:borg/other"], "another")
    let place = ["BORG_BASE_DIR": "\(home.folder)/borg", "BORG_REPO": "\(home.folder)/repository"]
    try home.succeed(
      ["borg", "init", "--encryption", "repokey"],
      variables: place.merging(["BORG_PASSPHRASE": Self.secret]) { $1 })
    let borg = { (command: String) in
      try home.run(["borg", "list"], variables: place.merging(["BORG_PASSCOMMAND": command]) { $1 })
    }
    let opened = try borg("keytree get generic:borg/repo")
    #expect(opened.status == 0 && opened.errors == "", "\(opened.errors)")
    let odd = try borg(#"keytree get --service=borg "--account=-x y'\"$""#)
    #expect(odd.status == 0, "\(odd.errors)")
    let wrong = try borg("keytree get generic:borg/other")
    #expect(wrong.status == 2 && wrong.errors.contains("incorrect"), "\(wrong.errors)")
    let missing = try borg("keytree get generic:borg/none")
    #expect(missing.status == 2 && missing.errors.contains("exit status 4"), "\(missing.errors)")
  }

  // MARK: Mail

  @Test(.enabled(if: RealProgram.has("msmtp"), "msmtp is not installed"))
  func `msmtp logs in with a secret from keytree`() throws {
    let server = try MailServer.smtp()
    try home.add(["smtp.example/me"], Self.secret)
    try home.add(["--server=smtp.example", "--account=\(ProgramsHome.oddName)"], "odd")
    let send = { (command: String) in
      let file = try home.write(
        """
        account default
        host 127.0.0.1
        port \(server.port)
        tls off
        auth plain
        from me@example.org
        user me
        passwordeval \(command)

        """, to: "msmtprc")
      return try home.run(["msmtp", "-C", file, "you@example.org"], input: "Subject: x\n\nx\n")
    }
    #expect(try send("keytree get smtp.example/me").status == 0)
    #expect(try send(#"keytree get --server=smtp.example "--account=-x y'\"$""#).status == 0)
    #expect(server.logins == ["\0me\0\(Self.secret)", "\0me\0odd"])
    #expect(try send("keytree get smtp.example/nobody").status != 0)
    #expect(server.logins.count == 2)
  }

  @Test(.enabled(if: RealProgram.has("mbsync"), "mbsync is not installed"))
  func `mbsync logs in with a secret from keytree`() throws {
    let server = try MailServer.imap()
    // mbsync's own quoting for IMAP is not tested here.
    try home.add(["imap.example/me"], "open  sesame$'")
    try home.add(["--server=imap.example", "--account=\(ProgramsHome.oddName)"], "odd")
    let synchronize = { (command: String) in
      let file = try home.write(
        """
        IMAPAccount test
        Host 127.0.0.1
        Port \(server.port)
        SSLType None
        AuthMechs LOGIN
        User me
        PassCmd "\(command)"

        IMAPStore far
        Account test

        MaildirStore near
        Path \(home.folder)/mail/
        Inbox \(home.folder)/mail/INBOX

        Channel test
        Far :far:
        Near :near:

        """, to: "mbsyncrc")
      return try home.run(["mbsync", "-q", "-c", file, "test"])
    }
    try FileManager.default.createDirectory(atPath: "\(home.folder)/mail", withIntermediateDirectories: false)
    #expect(try synchronize("keytree get imap.example/me").status == 0)
    // The line is escaped once for mbsync and once for the shell that it starts.
    #expect(try synchronize(#"keytree get --server=imap.example \"--account=-x y'\\\"\\$\""#).status == 0)
    #expect(server.logins == ["\"me\" \"open  sesame$'\"", "\"me\" \"odd\""])
    let missing = try synchronize("keytree get imap.example/nobody")
    #expect(missing.status == 1 && missing.errors.contains("status 4"), "\(missing.errors)")
    #expect(server.logins.count == 2)
  }

  // MARK: Others

  @Test(.enabled(if: RealProgram.has("ansible-vault"), "ansible-vault is not installed"))
  func `ansible-vault opens its vault with a secret from keytree`() throws {
    try home.add(["generic:ansible/vault"], Self.secret)
    let vault = { (item: String) in
      [
        "ANSIBLE_VAULT_PASSWORD_FILE": try home.write(
          "#!/bin/sh\nexec keytree get \(item)\n", to: "vault", mode: 0o700)
      ]
    }
    try home.write("secret: of ansible\n", to: "vars.yml")
    let key = ["ANSIBLE_VAULT_PASSWORD_FILE": try home.write(Self.secret, to: "key")]
    try home.succeed(["ansible-vault", "encrypt", "vars.yml"], variables: key)
    let opened = try home.run(
      ["ansible-vault", "view", "vars.yml"], variables: try vault("generic:ansible/vault"))
    #expect(opened.status == 0 && opened.text == "secret: of ansible\n", "\(opened.errors)")
    let missing = try home.run(
      ["ansible-vault", "view", "vars.yml"], variables: try vault("generic:ansible/none"))
    #expect(missing.status != 0 && missing.text == "" && missing.errors.contains("(4)"), "\(missing.errors)")
  }

  @Test(.enabled(if: RealProgram.has("ssh-agent", "ssh-add", "ssh-keygen"), "OpenSSH is not installed"))
  func `ssh-add opens a key, and gives up when the passphrase is wrong`() throws {
    for (name, passphrase) in [
      ("id_test", Self.secret), (ProgramsHome.oddName, "odd"), ("unknown", "unknown"),
    ] {
      try home.succeed(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", "\(home.folder)/\(name)"])
    }
    try home.add(["generic:ssh/id_test"], Self.secret)
    try home.add(["--service=ssh", "--account=\(home.folder)/\(ProgramsHome.oddName)"], "odd")
    let ask = ["SSH_ASKPASS": "keytree-askpass", "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ""]
    let addition = { (names: [String]) in
      let script = "ssh-add \"$@\" && ssh-add -l"
      return try home.run(
        ["timeout", "60", "ssh-agent", "sh", "-c", script, "sh"] + names.map { "\(home.folder)/\($0)" },
        variables: ask)
    }
    let added = try addition(["id_test", ProgramsHome.oddName])
    #expect(added.status == 0 && added.text.contains("id_test (ED25519)"), "\(added.errors)")
    #expect(added.text.contains("\(ProgramsHome.oddName) (ED25519)"))
    let missing = try addition(["unknown"])
    #expect(missing.status != 0 && missing.text == "", "\(missing.text)")
    try home.program.succeed(["set", "generic:ssh/id_test", "--secret"], input: "wrong")
    let wrong = try addition(["id_test"])
    #expect(wrong.status != 0 && wrong.text == "", "\(wrong.text)")
  }

  @Test(.enabled(if: RealProgram.python("import botocore") != nil, "botocore is not installed"))
  func `botocore gets its credentials from a process`() throws {
    let python = try #require(RealProgram.python("import botocore"))
    let key = "aws/se+cret"
    try home.add(
      ["generic:aws/default"], "{\"Version\":1,\"AccessKeyId\":\"AKID\",\"SecretAccessKey\":\"\(key)\"}")
    try home.add(
      ["--service=aws", "--account=\(ProgramsHome.oddName)"],
      "{\"Version\":1,\"AccessKeyId\":\"AKID\",\"SecretAccessKey\":\"odd\"}")
    try home.add(["generic:aws/akid"], key)
    try home.write(
      "{\"Version\":1,\"AccessKeyId\":\"AKID\",\"SecretAccessKey\":\"{{ keytree://generic-password/aws/akid }}\"}\n",
      to: ".aws/filled.json")
    try home.write(
      """
      [default]
      credential_process = keytree get generic:aws/default
      [profile filled]
      credential_process = keytree inject --in \(home.folder)/.aws/filled.json
      [profile odd]
      credential_process = keytree get --service=aws "--account=-x y'\\"$"
      [profile missing]
      credential_process = keytree get generic:aws/none

      """, to: ".aws/config")
    let program = """
      import sys, botocore.session as s
      c = s.Session(profile=sys.argv[1]).get_credentials()
      print(c.access_key, c.secret_key)
      """
    for (profile, answer) in [("default", key), ("filled", key), ("odd", "odd")] {
      let outcome = try home.run([python, "-c", program, profile])
      #expect(outcome.text == "AKID \(answer)\n", "\(profile): \(outcome.errors)")
    }
    let missing = try home.run([python, "-c", program, "missing"])
    #expect(
      missing.status != 0 && missing.text == "" && missing.errors.contains("no item is named"),
      "\(missing.errors)")
  }

  @Test(.enabled(if: RealProgram.has("curl"), "curl is not installed"))
  func `curl logs in with a netrc file that is a pipe`() throws {
    let server = try HTTPServer { $0.authorization == nil ? .unauthorized : .text("well") }
    try home.add(["127.0.0.1/curl"], "se'sa$me\\")
    try home.write(
      "machine 127.0.0.1 login curl password {{ keytree://internet-password/127.0.0.1/curl }}\n", to: "netrc")
    let script = "keytree inject -i netrc | curl -sS --fail --netrc-file /dev/stdin http://\(server.host)/"
    let outcome = try home.run(["sh", "-c", script])
    #expect(outcome.status == 0 && outcome.text == "well", "\(outcome.errors)")
    #expect(server.logins == ["curl:se'sa$me\\"])
    try home.program.succeed(["rm", "127.0.0.1/curl"])
    let missing = try home.run(["sh", "-c", script])
    #expect(missing.status != 0 && missing.text == "" && missing.errors.contains("no item is named"))
    #expect(server.logins.count == 1)
  }
}
