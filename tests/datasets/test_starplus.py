import numpy as np
import pytest
from scipy.io import savemat

from seminaive.datasets import load_starplus, starplus_files

CONDITIONS = [1, 2, 0, 3]
FIRST = ["", "P", "", "S"]


def rows_of(kinds, **fields):
    """A structure array of MATLAB."""
    out = np.empty((1, kinds), dtype=[(name, object) for name in fields])
    for name, values in fields.items():
        for i, value in enumerate(values):
            out[0, i][name] = value
    return out


def content(images=26, conditions=CONDITIONS, first=FIRST):
    """Four trials of which two show something; value = 100 trial + image, plus the voxel's number in tenths."""
    data = np.empty((len(conditions), 1), dtype=object)
    for i in range(len(conditions)):
        data[i, 0] = 100.0 * i + np.arange(1, images + 1)[:, None] + np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    info = rows_of(len(conditions), cond=[float(c) for c in conditions], firstStimulus=first, mint=[1.0] * 4)
    rois = rows_of(3, name=["CALC", "LT", "SMA"], columns=[[1.0, 3.0], [2.0], np.zeros(0)], coords=[0.0] * 3)
    meta = {"ntrials": float(len(conditions)), "subject": "04847", "rois": rois}
    return {"info": info, "data": data, "meta": meta}


@pytest.fixture
def write(tmp_path):
    def write(name="data-starplus-04847-v7.mat", **parts):
        savemat(tmp_path / name, parts, do_compression=True)
        return tmp_path / name

    return write


def test_the_images_with_something_to_see_are_rows_and_regions_are_means_of_their_voxels(write):
    images = load_starplus(write(**content()))
    assert images.regions == ["CALC", "LT"]  # the third has no voxel
    first, second = np.arange(1, 9), np.arange(17, 25)
    expected = np.concatenate([100 + first, 100 + second, 300 + first, 300 + second])
    np.testing.assert_allclose(images.X[:, 0], expected + 0.2)
    np.testing.assert_allclose(images.X[:, 1], expected + 0.2)
    assert images.y.tolist() == ["picture"] * 8 + ["sentence"] * 16 + ["picture"] * 8
    assert images.trial.tolist() == [0] * 16 + [1] * 16


def test_only_the_persons_whose_files_are_there_are_found_in_the_papers_order(write, tmp_path):
    for name in ("data-starplus-05710-v7.mat", "data-starplus-04799-v7.mat", "another.mat"):
        write(name, **content())
    assert list(starplus_files(tmp_path)) == ["04799", "05710"]
    assert starplus_files(tmp_path / "nowhere") == {}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"images": 20}, "trial 2 has 20 images; at least 24 are needed"),
        ({"first": ["", "P", "", "X"]}, "trial 4 begins with 'X', which is neither 'P' nor 'S'"),
        ({"conditions": [0, 1, 0, 1]}, "no trial shows anything"),
    ],
)
def test_a_file_that_is_amiss_is_one_sentence(write, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        load_starplus(write(**content(**change)))


def test_other_files_are_refused_in_one_sentence(write, tmp_path):
    with pytest.raises(ValueError, match="holds no data, meta: it is not a file of the StarPlus study"):
        load_starplus(write(info=content()["info"]))
    with pytest.raises(ValueError, match="is not laid out like"):
        load_starplus(write(**{**content(), "meta": {"subject": "04847"}}))
    (tmp_path / "text.mat").write_text("no matrix at all, only words " * 20)
    with pytest.raises(ValueError, match=r"text\.mat is not a MATLAB file of version 7"):
        load_starplus(tmp_path / "text.mat")


def test_a_pickle_in_disguise_is_not_executed(tmp_path):
    import pickle

    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was executed",))

    (tmp_path / "trap.mat").write_bytes(pickle.dumps(Trap()).ljust(400, b"\0"))
    with pytest.raises(ValueError, match="is not a MATLAB file"):
        load_starplus(tmp_path / "trap.mat")
