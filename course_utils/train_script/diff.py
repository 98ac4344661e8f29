"""Apply a diff without line numbers: blocks below `@@`, each of which fits in exactly one place."""

import re


def changed(source: str, body: str, where: str) -> str:
    """Apply the blocks of a diff to a source, one after another.

    Raises:
        ValueError: A block is malformed, or its lines do not occur in exactly one place.
    """
    lines = source.splitlines()
    above, *blocks = re.split(r"^@@.*\n", body, flags=re.MULTILINE)
    if above or not blocks:
        raise ValueError(f"{where}: a diff consists of blocks, each starting with @@")
    for number, block in enumerate(blocks, start=1):
        old, new = _sides(block, f"{where}, block {number}")
        places = [i for i in range(len(lines)) if lines[i : i + len(old)] == old]
        if len(places) != 1:
            shown = "\n".join(old)
            raise ValueError(
                f"{where}, block {number}: its lines occur in {len(places)} places, not in one:\n{shown}"
            )
        lines[places[0] : places[0] + len(old)] = new
    return "".join(f"{line}\n" for line in lines)


def _sides(block: str, where: str) -> tuple[list[str], list[str]]:
    lines = block.splitlines()
    for line in lines:
        if line[:1] not in " -+":
            raise ValueError(f"{where}: a line must start with a space, - or +: {line}")
    return [line[1:] for line in lines if line[:1] != "+"], [line[1:] for line in lines if line[:1] != "-"]
