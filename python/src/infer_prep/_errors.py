"""The exceptions of the package."""


class InferPrepError(RuntimeError):
    """An error of the library.

    code is its kind: "graph", "op", "param", "format" (a damaged image),
    "unsupported", "limit", "input" (an invalid argument), "node", "function" (an
    exception of a function, which is the __cause__), "state", "closed",
    "canceled", "io", "bundle", "version", "digest" or "internal" (a bug; please
    report it). docs/python.md describes them.
    """

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code
        self._call = 0  # the number of the call of a function that raised

    def __reduce__(self) -> tuple[type["InferPrepError"], tuple[str, str]]:
        return type(self), (str(self), self.code)  # so that a worker process can pass it on


class ForkError(InferPrepError):
    """The process was forked after the library was loaded; its code is "fork"."""
