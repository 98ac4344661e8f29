from data_setup.cli import main


def test_both_rates_and_their_ratio_are_printed_for_both_sources(tmp_path, capsys):
    assert (
        main(["bench", "--count", "24", "--rounds", "1", "--workers", "1", "--scratch", str(tmp_path)]) == 0
    )
    rows = {tuple(line.split()[:2]) for line in capsys.readouterr().out.splitlines()[1:]}
    assert rows == {
        (source, row) for source in ("imagenet", "photos") for row in ("bare", "whole", "ratio", "by")
    }
    assert list(tmp_path.iterdir()) == []
