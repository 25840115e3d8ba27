"""many.py TEMPLATE.json DATABASE: 12 processes at once import 20 records each into one database, a process a record."""
import concurrent.futures
import json
import pathlib
import subprocess
import sys

template, database = json.loads(pathlib.Path(sys.argv[1]).read_text()), sys.argv[2]


def write(worker):
    for i in range(20):
        record = template["records"][0] | {"graph": f"{worker:016x}{i:016x}"}
        text = json.dumps(template | {"records": [record]})
        subprocess.run(["mirage-tune", "--database", database, "import", "-"], input=text, text=True, check=True,
                       stderr=subprocess.DEVNULL)


with concurrent.futures.ThreadPoolExecutor(12) as pool:
    list(pool.map(write, range(12)))
