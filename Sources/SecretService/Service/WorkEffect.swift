/// The effect of finished work on what the service knows.
enum WorkEffect: Sendable {
  case none
}
