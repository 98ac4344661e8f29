from data_setup.cli import main


def test_prints_all_rates_and_ratios_for_both_sources(tmp_path, capsys):
    options = ["--count", "24", "--rounds", "1", "--workers", "1", "--scratch", str(tmp_path)]
    assert main(["bench", *options]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    expected = [
        [source, *what]
        for source in ("imagenet", "photos")
        for what in (["pixels"], ["set"], ["set", "/", "pixels"])
    ]
    assert [row[: len(start)] for row, start in zip(rows, expected, strict=True)] == expected
    assert all(float(row[len(start)].replace(",", "")) > 0 for row, start in zip(rows, expected, strict=True))
    assert list(tmp_path.iterdir()) == []
