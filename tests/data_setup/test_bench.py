from data_setup.cli import main


def test_prints_all_rates_and_ratios_for_both_sources(tmp_path, capsys):
    options = ["--count", "24", "--rounds", "1", "--workers", "1", "--scratch", str(tmp_path)]
    assert main(["bench", *options]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    for source, found in (("imagenet", rows[:5]), ("photos", rows[5:])):
        assert [row[:2] for row in found[:3]] == [[source, what] for what in ("pixels", "files", "set")]
        assert [row[:4] for row in found[3:]] == [[source, "set", "/", what] for what in ("pixels", "files")]
        assert all(float(row[2].replace(",", "")) > 0 for row in found[:3])
        assert all(float(row[4]) > 0 for row in found[3:])
    assert list(tmp_path.iterdir()) == []
