"""Brain images of the StarPlus study: is a person looking at a picture or reading a sentence?

The files are public and not part of this library: one per person, data-starplus-04847-v7.mat and so on, about 100 MB
each (Carnegie Mellon University, theo-81). Each holds 40 trials in which a picture and a sentence are shown for four
seconds each, in either order, with four seconds between; an image of some thousand voxels is taken every half second.
So there are 16 images of each trial with something to see, 640 rows, and the voxels of an anatomical region are
averaged, which leaves about 25 columns.

MATLAB's files are read by SciPy, which parses numbers, texts and structures and runs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["StarPlus", "load_starplus", "starplus_files"]

SUBJECTS = ("04799", "05675", "04820", "05680", "04847", "05710")
FIRST_SECONDS, SECOND_SECONDS = slice(0, 8), slice(16, 24)
"""The images of a trial that show the first and the second stimulus: from image 1 and from image 17, counted from 1."""
A_TASK = 2
"""Trials of a lower condition are rests, or to be ignored."""


class StarPlus(NamedTuple):
    """Images of one person.

    Attributes
    ----------
    X : array (images, regions)
        Mean activation of the voxels of each region.
    y : array of "picture" and "sentence"
    regions : list of str
    trial : int array (images,)
        The trial of each image, counted from 0 among those with something to see.
    """

    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.str_]
    regions: list[str]
    trial: npt.NDArray[np.int64]


def starplus_files(folder: Path | str) -> dict[str, Path]:
    """The files of the six persons that are in a folder, in the order of the paper's table."""
    files = {subject: Path(folder) / f"data-starplus-{subject}-v7.mat" for subject in SUBJECTS}
    return {subject: file for subject, file in files.items() if file.is_file()}


def load_starplus(file: Path | str) -> StarPlus:
    """Read the images of one person, averaged over regions.

    Parameters
    ----------
    file : path
        A file of MATLAB version 7, as published.

    Returns
    -------
    StarPlus
        16 images of every trial: eight of the first stimulus and eight of the second.

    Raises
    ------
    ValueError
        If the file is no such file; the message says what is amiss.
    """
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    file = Path(file)
    try:
        content = loadmat(file, variable_names=["info", "data", "meta"], simplify_cells=True)
    except (MatReadError, NotImplementedError, ValueError, TypeError) as problem:
        raise ValueError(f"{file} is not a MATLAB file of version 7: {problem}") from problem
    absent = [name for name in ("info", "data", "meta") if name not in content]
    if absent:
        raise ValueError(f"{file} holds no {', '.join(absent)}: it is not a file of the StarPlus study")
    try:
        return _images(_listed(content["info"]), _listed(content["data"]), content["meta"])
    except (KeyError, IndexError, TypeError) as problem:
        raise ValueError(f"{file} is not laid out like a file of the StarPlus study: {problem!r}") from problem
    except ValueError as problem:
        raise ValueError(f"{file}: {problem}") from problem


def _listed(value: Any) -> list[Any]:
    """A cell or structure array as a list, also where it has one element."""
    if isinstance(value, dict) or (isinstance(value, np.ndarray) and value.dtype != object and value.ndim == 2):
        return [value]
    return list(value)


def _images(trials: Sequence[dict[str, Any]], data: Sequence[Any], meta: dict[str, Any]) -> StarPlus:
    if len(trials) != len(data):
        raise ValueError(f"there are {len(trials)} trials in info and {len(data)} in data")
    regions = [(str(roi["name"]), np.atleast_1d(roi["columns"]).astype(np.int64) - 1) for roi in _listed(meta["rois"])]
    regions = [(name, voxels) for name, voxels in regions if len(voxels)]
    parts: list[npt.NDArray[np.float64]] = []
    labels: list[str] = []
    numbers: list[int] = []
    for i, (trial, images) in enumerate(zip(trials, data, strict=True)):
        if int(trial["cond"]) < A_TASK:
            continue
        first = str(trial["firstStimulus"])
        if first not in ("P", "S"):
            raise ValueError(f"trial {i + 1} begins with {first!r}, which is neither 'P' nor 'S'")
        voxels = np.asarray(images, dtype=np.float64)
        if voxels.ndim != 2 or len(voxels) < SECOND_SECONDS.stop:
            raise ValueError(f"trial {i + 1} has {len(voxels)} images; at least {SECOND_SECONDS.stop} are needed")
        means = np.column_stack([voxels[:, columns].mean(axis=1) for _, columns in regions])
        parts += [means[FIRST_SECONDS], means[SECOND_SECONDS]]
        shown = ("picture", "sentence") if first == "P" else ("sentence", "picture")
        labels += [word for word in shown for _ in range(8)]
        numbers += [len(numbers) // 16] * 16
    if not parts:
        raise ValueError("no trial shows anything")
    return StarPlus(np.concatenate(parts), np.array(labels), [name for name, _ in regions], np.array(numbers))
