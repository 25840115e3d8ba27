def step_page(place, run, check):
    raise SystemExit("not yet")
