from data_setup.cli import main


def test_all_rates_and_their_ratios_are_printed_for_both_sources(tmp_path, capsys):
    assert (
        main(["bench", "--count", "24", "--rounds", "1", "--workers", "1", "--scratch", str(tmp_path)]) == 0
    )
    rows = [line.split()[:3] for line in capsys.readouterr().out.splitlines()[1:]]
    ways = ["bare", "written", "whole"]
    for source, found in (("imagenet", rows[:5]), ("photos", rows[5:])):
        assert [[name, way] for name, way, _ in found[:3]] == [[source, way] for way in ways]
        assert found[3:] == [[source, "to", "bare"], [source, "to", "written"]]
    assert list(tmp_path.iterdir()) == []
