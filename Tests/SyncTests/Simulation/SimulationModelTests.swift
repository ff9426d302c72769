import Testing

@Suite struct SimulationModelTests {
  private static let both: Set<String> = ["items/a.gpg", "items/b.gpg"]

  /// Two items have the same secret, and each seat discards one of them.
  @Test(arguments: [true, false])
  func `a secret is released if two seats discard it, also in a command that fails`(isDone: Bool) throws {
    var model = SimulationModel()
    try model.note(0, [:], ["s": Self.both], SimulationIntent(new: ["s"]), isDone: true)
    for seat in [0, 1] {
      #expect(!model.isReleased("s"))
      try model.note(
        seat, ["s": Self.both], ["s": ["items/a.gpg"]], SimulationIntent(old: ["s"]), isDone: isDone)
    }
    #expect(model.isReleased("s"))
  }

  @Test func `a secret is not released if a command only moves one of its files`() throws {
    var model = SimulationModel()
    try model.note(0, [:], ["s": Self.both], SimulationIntent(new: ["s"]), isDone: true)
    for seat in [0, 1] {
      let moved: Set<String> = ["items/a.gpg", "items/c.gpg"]
      try model.note(seat, ["s": Self.both], ["s": moved], SimulationIntent(old: ["s"]), isDone: false)
    }
    #expect(!model.isReleased("s"))
  }

  @Test func `a command that loses a secret is a failure`() throws {
    var model = SimulationModel()
    try model.note(0, [:], ["s": Self.both], SimulationIntent(new: ["s"]), isDone: true)
    #expect(throws: SimulationFailure.self) {
      try model.note(0, ["s": Self.both], [:], SimulationIntent(), isDone: false)
    }
  }
}
