#if FUZZING
  /// Passes an input of libFuzzer to the chosen target. libFuzzer has the main function of a build with `-DFUZZING`.
  ///
  /// - Parameters:
  ///   - start: The first byte; may be nil if there is none.
  ///   - count: The number of bytes.
  /// - Returns: 0, which tells libFuzzer that the input may become part of the corpus.
  @c(LLVMFuzzerTestOneInput)
  public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Replay.chosen.run(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#else
  /// The program in an ordinary build: it runs a target once with each of the given files.
  @main enum Program {
    static func main() {
      Replay.run(CommandLine.arguments)
    }
  }
#endif
