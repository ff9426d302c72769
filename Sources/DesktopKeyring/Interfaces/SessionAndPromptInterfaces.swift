internal import SecretService
internal import SessionBus

extension BusInterface {
  /// `org.freedesktop.Secret.Session`.
  static let session = BusInterface(
    name: InterfaceName.session,
    methods: [
      BusMethod("Close", [], []) { call in
        guard case .session(let session) = call.object else {
          throw ReplyError.unknownMethod("not a session")
        }
        call.service.close(session, for: call.sender)
        return .now([])
      }
    ])

  /// `org.freedesktop.Secret.Prompt`.
  static let prompt = BusInterface(
    name: InterfaceName.prompt,
    methods: [
      // The window is not used: pinentry shows its own.
      BusMethod("Prompt", [BusArgument("window_id", "s")], []) { call in
        guard let work = try call.service.prompt(call.prompt, for: call.sender) else { return .now([]) }
        return .nowAndLater([], BackgroundWork(work) { [] })
      },
      BusMethod("Dismiss", [], []) { call in
        try call.service.dismiss(call.prompt, for: call.sender)
        return .now([])
      },
    ],
    signals: [BusSignal("Completed", [BusArgument("dismissed", "b"), BusArgument("result", "v")])])
}

extension MethodCall {
  /// The prompt that is called.
  ///
  /// - Throws: `unknownMethod` if the object is of another kind.
  fileprivate var prompt: PromptID {
    get throws {
      guard case .prompt(let prompt) = object else { throw ReplyError.unknownMethod("not a prompt") }
      return prompt
    }
  }
}
