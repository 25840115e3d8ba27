"""schema1.py DATABASE OUT: the records of a database in a file as version 0.1 first wrote it, without the column `code`."""
import sqlite3
import sys

COLUMNS = ("graph, target, options, version, gpu, driver, choice, hash, text, time_us, spread, own_us, own_spread, "
           "measured, date")

out = sqlite3.connect(sys.argv[2])
out.execute(f"CREATE TABLE tuning ({COLUMNS}, PRIMARY KEY (graph, target, options, version, gpu, driver))")
rows = sqlite3.connect(sys.argv[1]).execute(f"SELECT {COLUMNS} FROM tuning").fetchall()
out.executemany(f"INSERT INTO tuning VALUES ({', '.join('?' * 15)})", rows)
out.execute("PRAGMA user_version = 1")
out.commit()
