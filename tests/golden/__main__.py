"""``python -m tests.golden --record``: what is computed today becomes what is expected."""

from __future__ import annotations

import argparse
import json
import tempfile

from tests.golden.cases import ARITHMETIC, CASES, EXPECTED, arithmetic, compute


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument(
        "--record", action="store_true", required=True, help="replace all that is expected"
    )
    parser.parse_args()
    for case in CASES:
        with tempfile.TemporaryDirectory() as directory:
            result = compute(case, directory)
        with open(f"{EXPECTED}/{case.expected}", "wb") as file:
            file.write(result)
        print(f"{case.expected}: {len(result)} bytes")
    with open(ARITHMETIC, "w", encoding="ascii") as file:
        json.dump(arithmetic(), file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
