"""Runs a command on a terminal of its own and says what stood there.

terminal.py [--interrupt-after N] WIDTH TERM COMMAND...

With --interrupt-after it is interrupted once the live line was drawn so many times. Prints how many times a live line was drawn, the longest one, the last, whether it was taken away again, and what else
was printed.
"""
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios

arguments = sys.argv[1:]
interrupt_after = None
if arguments[0] == "--interrupt-after":
    interrupt_after = int(arguments[1])
    del arguments[:2]
width, term, command = int(arguments[0]), arguments[1], arguments[2:]
read, write = os.pipe() # the child starts when the terminal has its size
pid, terminal = pty.fork()
if pid == 0:
    os.read(read, 1)
    os.environ["TERM"] = term
    os.execvp(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
os.write(write, b"x")

output = b""
while True:
    try:
        data = os.read(terminal, 4096)
    except OSError: # the other end is closed
        break
    if not data:
        break
    output += data
    if interrupt_after and len(re.findall(rb"\r[^\r\n]+?\x1b\[K", output)) >= interrupt_after:
        interrupt_after = None
        os.kill(pid, signal.SIGINT)
_, status = os.waitpid(pid, 0)
text = output.decode().replace("\r\n", "\n")

# "\r", the line, "erase to the end of the line"
drawn = re.findall(r"\r([^\r\n]*?)\x1b\[K", text)
lines = [line for line in drawn if line]
rest = re.sub(r"\x1b\[[0-9;]*m", "", re.sub(r"\r[^\r\n]*?\x1b\[K", "", text))
print("status", os.waitstatus_to_exitcode(status))
print("drawn", "many" if len(lines) > 1 else len(lines))
if lines:
    print("longest", "fits" if max(map(len, lines)) < width else max(map(len, lines)))
    print("last:", lines[-1])
    print("taken away", drawn[-1] == "")
print("rest:")
print(rest)
