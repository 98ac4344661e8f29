"""The table and the figure of `tests.bench.loader`."""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

from tests.bench.crop_record.ratios import LIMIT
from tests.bench.recording.spread import Spread

INTO_BATCHES = "limit: simplejpeg into batches"
MAX_DIFFERENCE = 2  # decoders may round differently
DIFFERENCE_NOTE = """
difference: the largest one, in levels of 0-255, from the output of another decoder for the same bytes
and settings: Pillow, or simplejpeg with the fast DCT"""
COLUMNS = ("warm", "cold", "first_s", "memory_mib")


def per_round(report: dict, loader: str, cores: int, column: str) -> dict[int, float]:
    """Return what was measured of a loader, by the number of the round."""
    rows = (row for row in report["rows"] if (row["loader"], row["cores"]) == (loader, cores))
    return {row["round"]: row[column] for row in rows if column in row}


def spread(report: dict, loader: str, cores: int, column: str) -> Spread:
    """Return median, minimum and maximum over the rounds; NaN where nothing was measured."""
    return Spread.of(per_round(report, loader, cores, column).values())


def ratio(report: dict, loader: str, cores: int, column: str = "warm") -> Spread:
    """Return the speed divided by the limit in the same round: that of the decoder, or of what crops need."""
    decoder = report["decoder"][loader]
    # A decoder that cannot run alone is compared with the one that is the fastest of those that can.
    limit = INTO_BATCHES if decoder in ("own", "simplejpeg") else f"limit: {decoder} alone"
    limits = per_round(report, LIMIT if report["work"] == "crops" else limit, cores, "warm")
    speeds = per_round(report, loader, cores, column)
    return Spread.of(speed / limits[number] for number, speed in speeds.items() if number in limits)


def ranked(report: dict) -> tuple[list[str], list[int]]:
    """Return the loaders from fastest to slowest, and the numbers of cores."""
    cores = sorted({row["cores"] for row in report["rows"]})
    names = list(dict.fromkeys(row["loader"] for row in report["rows"]))
    return sorted(names, key=lambda name: -spread(report, name, cores[-1], "warm")[0]), cores


def verdict(row: dict) -> str:
    """Return the largest difference from the other decoder, with a warning if the output is not the same."""
    if "max_difference" not in row:
        return "" if row["complete"] else "NOT ALL IMAGES, OR OF OTHER SHAPES"
    same = row["complete"] and row["max_difference"] <= MAX_DIFFERENCE
    return f"{row['max_difference']:.0f}" + " NOT THE SAME OUTPUT" * (not same)


def table(report: dict) -> str:
    """Return the report as text."""
    names, all_cores = ranked(report)
    lines = [
        f"{report['images']} images, batches of {report['batch_size']}, median of {report['rounds']} rounds"
    ]
    for cores in all_cores:
        where = f"on {cores} core" + "s" * (cores > 1)
        lines.append(
            f"\n{where:32}{'warm, images/s':>16}{'(min-max)':>16}{'of limit':>20}"
            f"{'cold, images/s':>16}{'1st batch, ms':>14}{'memory, MiB':>12}  difference"
        )
        for name in names:
            warm, low, high = spread(report, name, cores, "warm")
            _, cold, first, used = (spread(report, name, cores, column).median for column in COLUMNS)
            rows = (row for row in report["rows"] if row["loader"] == name and "complete" in row)
            verified = next(rows, None)
            lines.append(
                f"{name:32}{warm:16.0f}{f'({low:.0f}-{high:.0f})':>16}{ratio(report, name, cores).text():>20}"
                f"{cold:16.0f}{1000 * first:14.0f}{used:12.0f}  " + (verdict(verified) if verified else "")
            )
        lines += [f"  {line}" for line in comparisons(report, cores)]
    lines += [DIFFERENCE_NOTE] if report["work"] != "crops" else ["", *crop_lines(report)]
    lines.append(cache_line(report))
    if report["operations"]:
        lines.append("\nSystem calls on the data's files for one epoch:")
    for name, calls in report["operations"].items():
        listed = (
            ", ".join(f"{n} {call}" for call, n in sorted(calls.items()) if n)
            if calls
            else "none (or no strace)"
        )
        lines.append(f"{name:32}{listed}")
    lines += [f"\nNot measured: {name}: {why}" for name, why in report["missing"].items()]
    return "\n".join(lines)


def comparisons(report: dict, cores: int) -> list[str]:
    """Return sentences that compare the course's loader with the fastest of the others, for each output."""
    lines = []
    for output in sorted(set(report["output"].values())):
        names = [n for n in ranked(report)[0] if report["output"][n] == output and decodes(report, n)]
        for column in ("warm", "cold"):
            speeds = {name: spread(report, name, cores, column)[0] for name in names}
            own = max((s for n, s in speeds.items() if n.startswith("FastLoader") and s == s), default=None)
            others = {n: s for n, s in speeds.items() if not n.startswith("FastLoader") and s == s}
            if own and others:
                best = max(others, key=others.__getitem__)
                wins = f"{own / others[best]:.2f} times as fast as {best}"
                loses = f"slower than {best}, which is {others[best] / own:.2f} times as fast"
                lines.append(f"{output}, {column}: FastLoader is {wins if own >= others[best] else loses}")
    return lines


def decodes(report: dict, name: str) -> bool:
    return report["decoder"][name] != "pixels" and not name.startswith("limit")


def crop_lines(report: dict) -> list[str]:
    """Return for each loader whether its crops are distributed as torchvision's are."""
    lines = ["Distribution of the crops' parameters, compared with torchvision's:"]
    for name, found in report["crops"].items():
        far = {key: value for key, value in found.items() if key != "error" and value > 1}
        told = ", ".join(f"{key} ({value:.1f} times what chance allows)" for key, value in far.items())
        lines.append(f"{name:32}{found.get('error') or told or 'the same'}")
    return lines


def cache_line(report: dict) -> str:
    """Return how cold the cold epochs were."""
    if report["uncached"]:
        return f"\ncold: not known here ({report['uncached']})"
    left = max((row["resident"] for row in report["rows"] if "resident" in row), default=float("nan"))
    return f"\ncold: before the epoch, at most {left:.0%} of the files were in the page cache"


def plot(report: dict, path: Path) -> None:
    """Draw the loaders' speeds, warm and cold, with their range."""
    mpl.use("agg")
    names, all_cores = ranked(report)
    figure, panels = plt.subplots(
        1, len(all_cores), figsize=(6 * len(all_cores), 0.3 * len(names) + 1.5), sharey=True
    )
    for panel, cores in zip([panels] if len(all_cores) == 1 else panels, all_cores, strict=True):
        for shift, column in ((-0.2, "warm"), (0.2, "cold")):
            speeds = [spread(report, name, cores, column) for name in names]
            errors = [[m - low for m, low, _ in speeds], [high - m for m, _, high in speeds]]
            rows = [row + shift for row in range(len(names))]
            panel.barh(rows, [m for m, _, _ in speeds], 0.4, xerr=errors, label=f"{column} page cache")
        panel.set(
            title=f"{cores} core" + "s" * (cores > 1), xlabel="images per second", yticks=range(len(names))
        )
        panel.set_yticklabels(names)
        panel.set_ylim(len(names) - 0.5, -0.5)
        _limit_axis(
            panel,
            {name: spread(report, name, cores, "warm")[0] for name in names},
            report["decoder"],
        )
    panel.legend(loc="lower right")
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)


def _limit_axis(panel: plt.Axes, speeds: dict[str, float], decoders: dict[str, str]) -> None:
    """End the axis just beyond the loaders that decode; the far faster ones of raw pixels are cut off."""
    end = 1.25 * max(speed for name, speed in speeds.items() if decoders[name] != "pixels" and speed == speed)
    panel.set_xlim(0, end)
    for row, speed in enumerate(speeds.values()):
        if speed > end:
            panel.text(end, row - 0.2, f"{speed:,.0f} ▸ ", ha="right", va="center", color="white")
