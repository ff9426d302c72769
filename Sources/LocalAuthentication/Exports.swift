// Apple's module re-exports Foundation, so code that imports it can use `Data` without another import.
@_exported public import Foundation
@_exported public import KeychainServices
