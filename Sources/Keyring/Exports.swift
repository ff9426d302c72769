// The modules whose types appear in the library's declarations, re-exported so that one import is enough.
@_exported public import Encoding
@_exported public import FileSystem
@_exported public import KeyringModel
@_exported public import OpenPGP
@_exported public import Secrets
