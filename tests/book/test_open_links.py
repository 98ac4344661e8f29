"""Links that open a lesson exist where the place can open it."""

from book.open_links import OpenLinks

GITHUB = "https://github.com/example/students"


def test_without_a_repository_there_is_no_link():
    assert not OpenLinks(hub="https://hub.example.org").of("00_first")


def test_repository_on_github_opens_everywhere():
    line = OpenLinks(GITHUB, "https://hub.example.org").of("00_first")
    assert "https://hub.example.org/hub/user-redirect/git-pull?repo=https%3A%2F%2Fgithub.com" in line
    assert (
        "https://mybinder.org/v2/gh/example/students/main?labpath=notebooks%2F00_first%2F00_first.ipynb"
        in line
    )
    assert "https://colab.research.google.com/github/example/students/blob/main/notebooks/00_first/" in line


def test_other_hosts_open_on_the_hub_alone():
    line = OpenLinks("https://git.example.org/students.git", "https://hub.example.org/").of("00_first")
    assert "git-pull" in line
    assert "urlpath=lab%2Ftree%2Fstudents%2Fnotebooks%2F00_first%2F00_first.ipynb" in line
    assert "colab" not in line
    assert "mybinder" not in line
