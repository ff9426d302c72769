// Apple's module brings Foundation along, so code that imports it may name `Data` without a further import.
@_exported public import Foundation
@_exported public import KeychainServices
