# Speaks to mirage-lsp-server as an editor does, over its standard input and output, and compares what comes back.
#
# usage: lsp.py SERVER
#
# A message is a header with its length, an empty line, and JSON. Requests have an id, which the answer repeats; the server sends
# diagnostics unasked. Lines and columns count from 0.
import json
import subprocess
import sys

GOOD = """\
mirage_kernel.graph @program(%x: tensor<8x16xf16>, %w: tensor<16x16xf16>) -> tensor<8x16xf16> {
  %product = matmul %x, %w : tensor<8x16xf16>, tensor<16x16xf16>
  %y = tanh %product : tensor<8x16xf16>
  return %y : tensor<8x16xf16>
}
mirage_kernel.graph @candidate(%x: tensor<8x16xf16>, %w: tensor<16x16xf16>) -> tensor<8x16xf16>
    attributes {source = @program} {
  %0 = custom (%a = %x) outs(%o) grid [8] : (tensor<8x16xf16>) -> tensor<8x16xf16> {
    %tile = load %a {grid = [0]} : tensor<8x16xf16> -> !mirage_block.tile<1x16xf16>
    store %tile, %o {grid = [0]} : !mirage_block.tile<1x16xf16>, tensor<8x16xf16>
  }
  return %0 : tensor<8x16xf16>
}
"""
LINES = GOOD.splitlines()


class Server:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.requests = 0

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("the server closed its output")
            if line == b"\r\n":
                return json.loads(self.process.stdout.read(length))
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)

    def tell(self, method, **params):
        self.send({"method": method, "params": params})

    def ask(self, method, **params):
        """The result of a request, or its error."""
        self.requests += 1
        self.send({"id": self.requests, "method": method, "params": params})
        while True:
            message = self.receive()
            if message.get("id") == self.requests:
                return message["result"] if "result" in message else {"error": message["error"]}

    def open(self, name, text):
        """The diagnostics of a text."""
        self.tell("textDocument/didOpen",
                  textDocument={"uri": f"file:///{name}", "languageId": "mlir", "version": 1, "text": text})
        return self.diagnostics(name)

    def change(self, name, text):
        self.tell("textDocument/didChange", textDocument={"uri": f"file:///{name}", "version": 2}, contentChanges=[{"text": text}])
        return self.diagnostics(name)

    def diagnostics(self, name):
        message = self.receive()
        check("whose diagnostics", message["params"]["uri"], f"file:///{name}")
        return message["params"]["diagnostics"]


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}:\n  expected {expected}\n  found    {found}")


def check_in(what, part, text):
    if part not in text:
        sys.exit(f"{what}: no '{part}' in {text}")


def place(text, line_with, word):
    """The range of a word in the first line that holds `line_with`."""
    line = next(i for i, content in enumerate(text.splitlines()) if line_with in content)
    start = text.splitlines()[line].index(word)
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": start + len(word)}}


def at(line_with, word):
    """A request's place: in the first character of the word."""
    return {"textDocument": {"uri": "file:///good.mlir"}, "position": place(GOOD, line_with, word)["start"]}


def check_errors(server):
    """Wrong texts: the verifier's sentence, at the operation; and it goes when the text is right."""
    for name, old, new, line, word, sentence in [
            ("rule.mlir", "%x, %w : tensor<8x16xf16>, tensor<16x16xf16>", "%x, %x : tensor<8x16xf16>, tensor<8x16xf16>",
             "matmul", "matmul", "matmul: inner dimensions differ: 16 vs 8"),
            ("source.mlir", "source = @program", "source = @nobody", "@candidate", "mirage_kernel.graph @candidate", "nobody"),
            ("key.mlir", "load %a {grid", "load %a {gird", "load", None, "gird")]:
        text = GOOD.replace(old, new)
        check(f"{name}: replaced", text != GOOD, True)
        found = server.open(name, text)
        check(f"{name}: one error", [d["severity"] for d in found], [1])
        check_in(f"{name}: sentence", sentence, found[0]["message"])
        if word:
            check(f"{name}: range", found[0]["range"]["start"], place(text, line, word)["start"])
            check(f"{name}: last line", found[0]["range"]["end"]["line"], place(text, line, word)["start"]["line"])
        check(f"{name}: corrected", server.change(name, GOOD), [])


def check_reading(server):
    """Hover, definitions, references, the list of symbols, completion."""
    check("good.mlir", server.open("good.mlir", GOOD), [])
    hover = server.ask("textDocument/hover", **at("tanh", "tanh"))["contents"]["value"]
    check_in("hover on an operation", '"mirage_kernel.tanh"(%', hover)
    hover = server.ask("textDocument/hover", **at("tanh", "%product"))["contents"]["value"]
    check_in("hover on a value", "tensor<8x16xf16>", hover)
    check_in("hover on a value", "mirage_kernel.matmul", hover)
    hover = server.ask("textDocument/hover", **at("store", "%tile"))["contents"]["value"]
    check_in("hover in a kernel", "!mirage_block.tile<1x16xf16>", hover)

    found = server.ask("textDocument/definition", **at("tanh", "%product"))
    check("definition of a value", [d["range"] for d in found], [place(GOOD, "matmul", "%product")])
    found = server.ask("textDocument/definition", **at("source", "@program"))
    check("definition of a symbol", [d["range"] for d in found], [place(GOOD, "@program", "mirage_kernel.graph")])
    found = server.ask("textDocument/definition", **at("source", "attributes"))
    check("definition of a keyword", found, [])

    found = server.ask("textDocument/references", **at("matmul", "%product"), context={"includeDeclaration": True})
    check("references", [d["range"] for d in found], [place(GOOD, "matmul", "%product"), place(GOOD, "tanh", "%product")])
    found = server.ask("textDocument/documentSymbol", textDocument={"uri": "file:///good.mlir"})
    check("symbols", [s["name"] for s in found], ["program", "candidate"])

    half = GOOD[:GOOD.index("tanh %product") + len("tanh %")]
    server.open("half.mlir", half)
    line = half.count("\n")
    found = server.ask("textDocument/completion", textDocument={"uri": "file:///half.mlir"},
                       position={"line": line, "character": len(half.splitlines()[-1])})
    check("completion", {"%product", "%x", "%w"} <= {item["label"] for item in found["items"]}, True)
    found = server.ask("textDocument/noSuchThing")
    check("an unknown request", "error" in found, True)


def main():
    server = Server(sys.argv[1])
    answer = server.ask("initialize", processId=None, rootUri=None, capabilities={})
    for ability in ("hoverProvider", "definitionProvider", "referencesProvider", "completionProvider"):
        check(ability, bool(answer["capabilities"].get(ability)), True)
    server.tell("initialized")
    check_errors(server)
    check_reading(server)
    check("shutdown", server.ask("shutdown"), None)
    server.tell("exit")
    check("exit status", server.process.wait(), 0)
    print("the server answers")


main()
