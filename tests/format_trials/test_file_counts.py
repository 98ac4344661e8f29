import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt

from course_utils.format_trials import QUOTAS, packings, plot_file_counts

IMAGENET = 1_281_167


def test_imagenet_in_single_files_is_more_than_a_quota_and_in_shards_next_to_nothing():
    single, *shards = packings(IMAGENET, 20_000)
    assert single.files == IMAGENET
    assert single.files > 1_000_000
    assert [one.files for one in shards] == [513, 129, 26, 3]


@given(
    images=st.integers(1, 10**8),
    image_bytes=st.floats(1, 1e7),
    shard_bytes=st.integers(1, 10**11),
    stripes=st.integers(1, 100),
)
def test_files_hold_all_images_and_none_is_empty(images, image_bytes, shard_bytes, stripes):
    [found] = packings(images, image_bytes, [shard_bytes], stripes)
    assert (found.files - 1) * found.images_per_file < images <= found.files * found.images_per_file
    assert found.images_per_file * image_bytes <= max(shard_bytes, image_bytes) * (1 + 1e-9)
    assert found.objects == found.files * stripes


@pytest.mark.parametrize("quota", QUOTAS)
def test_quotas_name_their_source(quota):
    assert quota.source.startswith("https://")


def test_plot_has_a_line_for_each_data_set_and_each_quota():
    axes = plot_file_counts({"1.28 million": IMAGENET, "14 million": 14_197_122}, 20_000)
    assert len(axes.lines) == 2 + len({quota.files for quota in QUOTAS})
    assert "quota: LUMI, project, 100,000" in axes.get_legend_handles_labels()[1]
    plt.close(axes.figure)
