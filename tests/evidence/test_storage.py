"""What is saved comes back exactly; what is damaged, foreign or hostile is one clear error and never runs."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import hashlib
import json
import os
import pickle
import random
import stat
import struct
import subprocess
import sys
import tracemalloc
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from seminaive.evidence import known_classes, storage, stored_values
from seminaive.evidence.storage import load, register_estimator, save, storable


@storable
@dataclasses.dataclass(frozen=True)
class Term:
    name: str
    table: np.ndarray
    weight: float = 1.0
    size: int = dataclasses.field(init=False)

    def __post_init__(self):
        if self.table.ndim != 2:
            raise ValueError("table must have two dimensions")
        object.__setattr__(self, "size", self.table.size)


@register_estimator
class Coin:
    def __init__(self, smoothing=1.0, random_state=None, inner=None):
        self.smoothing = smoothing
        self.random_state = random_state
        self.inner = inner

    def get_params(self, deep=True):
        return {"smoothing": self.smoothing, "random_state": self.random_state, "inner": self.inner}

    def _check_restored(self):
        if hasattr(self, "codes_") and self.codes_.max() >= len(self.levels_):
            raise ValueError("codes_ point past the last level")

    def predict(self):
        return self.terms_[0].table @ self.prior_

    @property
    def n_terms(self):
        return len(self.terms_)


def fitted():
    coin = Coin(smoothing=0.5, random_state=7)
    table = np.random.default_rng(0).normal(size=(4, 3))
    coin.prior_ = np.array([0.1, -0.0, np.nan])
    coin.terms_ = [Term("size", table), Term("colour", np.asfortranarray(table), 0.25)]
    coin.classes_ = np.array(["no", 1, True, None, 2.5], dtype=object)
    coin.levels_ = ("low", "high")
    coin.codes_ = np.array([0, 1, 1], dtype=np.uint8)
    coin.seen_ = {1: "one", (2, "x"): np.float32(3)}
    return coin


def reloaded(estimator, folder):
    save(estimator, folder / "model.snb")
    return load(folder / "model.snb")


def same(a, b):
    """Equal down to types, order and bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            return False
        if a.dtype == object:
            return all(map(same, a.flat, b.flat))
        return a.tobytes() == b.tobytes() and a.flags.f_contiguous == b.flags.f_contiguous
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, datetime):
        return (a, a.fold) == (b, b.fold)
    if isinstance(a, dict):
        return same(list(a), list(b)) and same(list(a.values()), list(b.values()))
    if isinstance(a, Coin | Term):
        return same(vars(a), vars(b))
    return a == b


def came_back(value, folder):
    coin = Coin()
    coin.value_ = value
    return reloaded(coin, folder).value_


# Values come back exactly


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**62, max_value=2**200).map(lambda n: n - 2**63),
    st.floats(),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
    st.dates(),
    st.datetimes(),
)
dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="="),
    hnp.unsigned_integer_dtypes(endianness="="),
    hnp.floating_dtypes(endianness="=", sizes=(16, 32, 64)),
    hnp.datetime64_dtypes(endianness="="),
    hnp.timedelta64_dtypes(endianness="="),
    hnp.unicode_string_dtypes(endianness="="),
    hnp.byte_string_dtypes(),
)
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
object_arrays = hnp.arrays(object, hnp.array_shapes(max_dims=2, min_side=0, max_side=3), elements=scalars)
numpy_scalars = st.one_of(
    dtypes.filter(lambda dtype: dtype.kind not in "US").flatmap(hnp.from_dtype),
    st.text().map(np.str_),
    st.binary().map(np.bytes_),
)
keys = st.recursive(scalars | numpy_scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
values = st.recursive(
    scalars | numpy_scalars | arrays | object_arrays,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=100)
@given(value=values)
def test_every_nested_value_comes_back_with_its_types_and_bits(value, tmp_path_factory):
    assert same(came_back(value, tmp_path_factory.getbasetemp()), value)


def test_values_that_compare_equal_stay_distinct(tmp_path):
    value = [1, True, 1.0, np.int64(1), np.float64(1), np.True_, "1", b"1", np.str_("1"), (1,), [1]]
    assert [type(part) for part in came_back(value, tmp_path)] == [type(part) for part in value]


@pytest.mark.parametrize(
    "value",
    [
        -0.0,
        struct.unpack("<d", bytes.fromhex("010000000000f87f"))[0],  # a NaN that carries a number
        pytest.param(10**5000, id="a number of 5001 digits"),
        "\ud800",
        "\ud83d\ude00",  # two lone surrogates are not the one character they would make
        np.str_("ends with\0"),
        np.bytes_(b"ends with\0"),
        np.empty((0, 3)),
        np.array(5.0),
        np.datetime64("NaT"),
        np.timedelta64(3, "25s"),
        {2: "order", 1: "kept"},
        date(2020, 2, 29),
        datetime(2020, 2, 29, 1, 2, 3, 4, fold=1),
    ],
)
def test_a_rare_value_comes_back(value, tmp_path):
    assert same(came_back(value, tmp_path), value)


def test_fortran_order_is_kept_and_other_strides_become_c_order(tmp_path):
    grid = np.arange(12.0).reshape(3, 4)
    assert came_back(np.asfortranarray(grid), tmp_path).flags.f_contiguous
    assert same(came_back(grid[:, ::2], tmp_path), grid[:, ::2].copy())


def test_a_big_endian_array_comes_back_in_native_order(tmp_path):
    assert same(came_back(np.array([1.5, 2.5], dtype=">f8"), tmp_path), np.array([1.5, 2.5]))


def test_arrays_come_back_writable_and_aligned(tmp_path):
    coin = Coin()
    coin.a_, coin.b_ = np.zeros(3, np.uint8), np.zeros(3)
    again = reloaded(coin, tmp_path)
    assert again.b_.flags.writeable
    assert again.b_.flags.aligned


# Estimators come back


def test_a_fitted_estimator_comes_back_with_parameters_and_attributes(tmp_path):
    coin = fitted()
    again = reloaded(coin, tmp_path)
    assert type(again) is Coin
    assert same(again.get_params(), coin.get_params())
    assert same({name: vars(again)[name] for name in vars(coin)}, vars(coin))
    assert again.predict().tobytes() == coin.predict().tobytes()


def test_estimators_inside_parameters_attributes_and_lists_come_back(tmp_path):
    outer = Coin(inner=Coin(smoothing=3))
    outer.members_ = [fitted(), (fitted(),)]
    outer.by_class_ = {"a": fitted()}
    again = reloaded(outer, tmp_path)
    assert type(again.inner) is Coin
    assert again.inner.smoothing == 3
    for member in (again.members_[0], again.members_[1][0], again.by_class_["a"]):
        assert member.predict().tobytes() == fitted().predict().tobytes()


def test_an_attribute_set_by_the_constructor_comes_back(tmp_path):
    @register_estimator
    class Counted:
        def __init__(self):
            self.calls_ = 0

        def get_params(self, deep=True):
            return {}

    counted = Counted()
    counted.calls_ = 5
    assert reloaded(counted, tmp_path).calls_ == 5


def test_the_same_model_gives_the_same_bytes_whatever_the_order_of_its_attributes(tmp_path):
    first, second = fitted(), Coin(smoothing=0.5, random_state=7)
    vars(second).update(reversed(vars(fitted()).items()))
    for name, coin in [("a", first), ("b", second), ("c", reloaded(first, tmp_path))]:
        save(coin, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_the_path_may_be_text_or_a_path(tmp_path):
    save(fitted(), str(tmp_path / "a.snb"))
    assert same(load(str(tmp_path / "a.snb")).prior_, load(tmp_path / "a.snb").prior_)


def test_an_older_file_gets_the_default_of_a_field_added_later(tmp_path):
    term = ["record", f"{__name__}.Term", ["name", "x"], ["table", ["array", "<f8", [1, 1], "C"]]]
    assert opened(tmp_path, crafted(coin_with(term), bytes(8))).value_.weight == 1.0


PROGRAM = """
import hashlib, sys
import numpy as np
from seminaive.evidence.storage import load, register_estimator, save

@register_estimator
class Dummy:
    def __init__(self, seed=0): self.seed = seed
    def get_params(self, deep=True): return {"seed": self.seed}
    def fit(self):
        self.weights_ = np.random.default_rng(self.seed).normal(size=(50, 7))
        return self
    def predict(self): return self.weights_ @ np.linspace(0, 1, 7)

events = []
if sys.argv[1] == "save":
    model = Dummy(3).fit()
    save(model, sys.argv[2])
else:
    sys.addaudithook(lambda event, _: events.append(event))
    model = load(sys.argv[2])
    kept = list(events)
    harmless = {"open", "object.__getattr__", "object.__setattr__", "os.fspath"}
    print(sorted(set(kept) - harmless), file=sys.stderr)
print(hashlib.sha256(model.predict().tobytes()).hexdigest())
"""


def test_a_fresh_process_predicts_the_same_bits_and_loading_runs_nothing_there(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    source = str(Path(storage.__file__).parents[2])
    runs = [
        subprocess.run(
            [sys.executable, program, verb, tmp_path / "model.snb"],
            env={**os.environ, "PYTHONPATH": source},
            capture_output=True,
            text=True,
            check=True,
        )
        for verb in ("save", "load")
    ]
    assert runs[0].stdout == runs[1].stdout != ""
    assert runs[1].stderr.strip() == "[]"  # no import, exec, compile, pickle or process in the interpreter's audit


# What cannot be saved is named


class Other:
    pass


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (
            np.random.RandomState(0),
            "parameter 'random_state': values of type RandomState are not .*; use an int",
        ),
        (
            np.random.default_rng(0),
            "parameter 'random_state': values of type Generator are not .*; use an int",
        ),
        (len, "parameter 'random_state': values of type builtin_function_or_method are not storable"),
        (Other, "parameter 'random_state': values of type type are not storable"),
        ({1, 2}, "values of type set"),
        (slice(3), "values of type slice"),
        (np.ma.array([1.0]), "values of type MaskedArray"),
        (np.zeros(2, "i4,i4"), "NumPy values of type .* are not storable"),
        (np.zeros(2, complex), "NumPy values of type complex128 are not storable"),
        (np.zeros(2, [("empty", "U0")])["empty"], "NumPy values of type <U0 are not storable"),
        (np.longdouble(1), "NumPy values of type .* are not storable"),
        (datetime(2020, 1, 1, tzinfo=UTC), "values of type datetime"),
        (np.array([(1, 2), None], dtype=object), "object arrays of containers"),
        ([0, {"a": (1, Other())}], r"parameter 'random_state\[1\]\['a'\]\[1\]': values of type Other"),
        (Coin(random_state=Other()), "parameter 'random_state.random_state': values of type Other"),
        (
            Term(Other(), np.zeros((1, 1))),
            "'random_state.name': values of type Other",
        ),
    ],
)
def test_a_value_that_cannot_be_stored_is_named(parameter, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save(Coin(random_state=parameter), tmp_path / "model.snb")
    assert list(tmp_path.iterdir()) == []


def test_a_value_that_contains_itself_is_refused(tmp_path):
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match=r"parameter 'inner\[0\].*contains itself"):
        save(Coin(inner=loop), tmp_path / "model.snb")


def test_depth_is_limited_and_the_limit_can_be_reached(tmp_path):
    value = 1.5
    for i in range(stored_values.DEEPEST - 1):
        value = {i: value} if i % 2 else (value,)
    assert same(came_back(value, tmp_path), value)
    with pytest.raises(ValueError, match="nested more than"):
        came_back([value], tmp_path)


@pytest.mark.parametrize("name", ["__class__", "fitted value_"])
def test_an_attribute_that_could_not_be_loaded_is_not_saved(name, tmp_path):
    coin = Coin()
    vars(coin)[name] = 1
    with pytest.raises(ValueError, match=f"cannot save attribute '{name}'"):
        save(coin, tmp_path / "model.snb")


@pytest.mark.parametrize("thing", [Other(), 3, None, Term("x", np.zeros((1, 1))), Coin])
def test_only_registered_estimators_are_saved(thing, tmp_path):
    with pytest.raises(ValueError, match="only estimators of this library can be saved"):
        save(thing, tmp_path / "model.snb")


# Names of classes


def in_module(module, name="Twin"):
    cls = dataclasses.make_dataclass(name, ["x"], frozen=True)
    cls.__module__ = module
    return cls


def test_two_classes_of_the_library_cannot_share_a_name(monkeypatch):
    monkeypatch.setattr(known_classes, "RECORDS", {})
    storable(in_module("seminaive.models.one"))
    with pytest.raises(ValueError, match=r"seminaive\.models\.one and seminaive\.models\.two both define Twin"):
        storable(in_module("seminaive.models.two"))


def test_a_class_of_someone_else_never_collides_with_the_library(monkeypatch):
    monkeypatch.setattr(known_classes, "RECORDS", {})
    ours, theirs = storable(in_module("seminaive.models.one")), storable(in_module("elsewhere"))
    assert (known_classes.RECORDS["Twin"], known_classes.RECORDS["elsewhere.Twin"]) == (ours, theirs)


def test_defining_a_class_again_replaces_it(monkeypatch):
    monkeypatch.setattr(known_classes, "RECORDS", {})
    storable(in_module("elsewhere"))
    again = storable(in_module("elsewhere"))
    assert known_classes.RECORDS["elsewhere.Twin"] is again


@pytest.mark.parametrize("cls", [Other, dataclasses.make_dataclass("Loose", ["x"])])
def test_only_frozen_dataclasses_are_storable(cls):
    with pytest.raises(TypeError, match="not a frozen dataclass"):
        storable(cls)


# Damage


def damaged(good: bytes, rng: random.Random) -> bytes:
    data = bytearray(good)
    place = rng.randrange(len(data))
    length = rng.choice([1, 1, 2, 8, 64, 512])
    kind = rng.randrange(7)
    if kind == 0:
        data[place] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[place:]
    elif kind == 2:
        data[place:place] = rng.randbytes(length)
    elif kind == 3:
        data[place : place + length] = bytes(len(data[place : place + length]))
    elif kind == 4:
        data += rng.randbytes(length)
    elif kind == 5:
        del data[place : place + length]
    else:
        data[place : place + length] = rng.randbytes(len(data[place : place + length]))
    return bytes(data)


def check_damage(folder, n_files, seed):
    save(fitted(), folder / "good.snb")
    good = (folder / "good.snb").read_bytes()
    rng = random.Random(seed)
    bad = folder / "bad.snb"
    for _ in range(n_files):
        data = damaged(good, rng)
        if data == good:  # zeros written over zeros
            continue
        bad.unlink(missing_ok=True)  # a new file: writing over an old one waits for the disk
        bad.write_bytes(data)
        with pytest.raises(ValueError, match=r"is damaged|is not a seminaive model file"):
            load(bad)


def test_a_damaged_file_is_one_clear_error(tmp_path):
    check_damage(tmp_path, 400, seed=1)


@pytest.mark.slow
def test_ten_thousand_damaged_files_are_ten_thousand_clear_errors(tmp_path):
    check_damage(tmp_path, 10_000, seed=2)


def test_every_flipped_bit_of_the_prefix_is_noticed(tmp_path):
    save(fitted(), tmp_path / "good.snb")
    good = (tmp_path / "good.snb").read_bytes()
    for bit in range(8 * storage.PREFIX.size):
        data = bytearray(good)
        data[bit // 8] ^= 1 << bit % 8
        (tmp_path / "bad.snb").write_bytes(data)
        with pytest.raises(ValueError, match=r"is damaged|is not a seminaive model file"):
            load(tmp_path / "bad.snb")


# Made-up files: the checksum is right, the content is not


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def crafted(model, arrays=b"", version=storage.VERSION) -> bytes:
    header = model if isinstance(model, bytes) else json.dumps({"library": "0.1.0", "model": model}).encode()
    return sealed(storage.PREFIX.pack(storage.MARK, version, len(header)) + header + arrays)


def coin_with(node, name="value_"):
    return ["estimator", f"{__name__}.Coin", [["smoothing", 1.0]], [[name, node]]]


def opened(folder, data: bytes):
    (folder / "made-up.snb").write_bytes(data)
    return load(folder / "made-up.snb")


def test_a_well_made_file_loads(tmp_path):
    value = opened(tmp_path, crafted(coin_with(["array", "<i4", [2], "C"]), struct.pack("<2i", 5, 6))).value_
    assert same(value, np.array([5, 6], dtype=np.int32))


def test_a_file_of_no_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match="in format 0"):
        opened(tmp_path, crafted(coin_with(1), version=0))


def test_a_file_of_a_newer_format_says_so(tmp_path):
    with pytest.raises(ValueError, match=r"written by a newer seminaive, in file format 2; this one reads .* 1"):
        opened(tmp_path, crafted(b"\xff anything", version=2))


ALIEN = Path(__file__).name  # any text no class is called


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"a": 1}, "unknown form"),
        ([], "unknown form"),
        ([1], "unknown form"),
        (["spell", 1], "unknown form"),
        ([["list"]], "unknown form"),
        (["int", 3], "unknown form"),
        (["list", 10**30], "is not written in this way"),
        (["list", float("nan")], "is not written in this way"),
        (["int", "0xzz"], "invalid literal"),
        (["float", "00"], "error"),
        (["bytes", "0"], "non-hexadecimal"),
        (["str", "ff"], "can't decode"),
        (["date", "yesterday"], "isoformat"),
        (["dict", [1, 2], [1, 3]], "same key twice"),
        (["dict", [1]], "no value"),
        (["dict", [["list"], 3]], "unhashable"),
        (["dict", *[[["int", hex(k * (2**61 - 1))], 0] for k in range(1000)]], "made to collide"),
        (["numpy", "object_", "x"], "unknown form"),
        (["scalar", "|O", "00" * 8], "array of type '|O'"),
        (["scalar", "<f8", "00"], "fewer array bytes"),
        (["scalar", "|b1", "07"], "truth values other than"),
        (["array", "|O", [1], "C"], "array of type '|O'"),
        (["array", "<f8,<f8", [1], "C"], "array of type"),
        (["array", "O", [0], "C"], "array of type"),
        (["array", "|V8", [1], "C"], "array of type"),
        (["array", "<f8", [-1], "C"], "shape"),
        (["array", "<f8", [-1, -1], "C"], "shape"),
        (["array", "<f8", [True], "C"], "shape"),
        (["array", "<f8", [1.0], "C"], "shape"),
        (["array", "<f8", ["1"], "C"], "shape"),
        (["array", "<f8", [9], "C"], "fewer array bytes"),
        (["array", "<f8", [2**62], "C"], "fewer array bytes"),
        (["array", "<f8", [2**62] * 9, "C"], "fewer array bytes"),
        (["array", "<f8", [0, 2**62, 2**62], "C"], "cannot be restored"),
        (["array", "<f8", [0] * 99, "C"], "cannot be restored"),
        (["array", "<U0", [2**40], "C"], "without a size"),
        (["array", "<U999999999", [1], "C"], "cannot be restored"),
        (["array", "|S999999999", [1], "C"], "fewer array bytes"),
        (["array", "<M8[99999999999s]", [0], "C"], "array of type"),
        (["array", "<u4", [1], "K"], "unknown form"),
        (["array", "<U1", [1], "C"], "characters that do not exist"),
        (["array", "|b1", [4], "C"], "truth values other than"),
        (["array", "<u4", [0], "C"], "more array bytes"),
        (["list", ["array", "<u4", [1], "C"], ["array", "<u4", [1], "C"]], "fewer array bytes"),
        (["objects", [2], 1], "1 values for an array of shape"),
        (["objects", [0, 2**62, 2**62]], "cannot be restored"),
        (["record", ALIEN], "is not known here"),
        (["record", "os.system", ["command", "true"]], "is not known here"),
        (["record", "builtins.eval", ["source", "1"]], "is not known here"),
        (["record", f"{__name__}.Coin", ["smoothing", 1]], "is not known here"),
        (["record", f"{__name__}.Term", ["name", "x"]], "Term refuses the stored values"),
        (["record", f"{__name__}.Term", ["name", "x"], ["table", 3]], "Term refuses the stored values"),
        (
            ["record", f"{__name__}.Term", ["name", "x"], ["table", ["array", "<u4", [1], "C"]]],
            "two dimensions",
        ),
        (["record", f"{__name__}.Term", ["size", 1]], "no field 'size'"),
        (["record", f"{__name__}.Term", ["__class__", 1]], "no field '__class__'"),
        (["record", f"{__name__}.Term", [["tuple"], 1]], "no field"),
        (["estimator", f"{__name__}.Term", [], []], "is not known here"),
        (["estimator", f"{__name__}.Coin", [["fit", 1]], []], "Coin refuses the stored values"),
        (["estimator", f"{__name__}.Coin", [["self", 1]], []], "Coin refuses the stored values"),
        (["estimator", f"{__name__}.Coin", [[3, 1]], []], "Coin refuses the stored values"),
        (["estimator", f"{__name__}.Coin", [], [["inner", 1]], []], "unknown form"),
        (["estimator", f"{__name__}.Coin", []], "unknown form"),
        (json.loads("[" * 400 + "]" * 400), "unknown form"),
    ],
)
def test_hostile_content_is_one_clear_error(node, message, tmp_path):
    with pytest.raises(ValueError, match=r"made-up\.snb cannot be restored: ") as caught:
        opened(tmp_path, crafted(coin_with(node), b"\xff\xff\xff\xff"))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["__class__", "__reduce__", "__dict__", "__any", "predict", "n_terms", "_check_restored", "smoothing"],
)
def test_an_attribute_name_with_a_meaning_of_its_own_is_refused(name, tmp_path):
    with pytest.raises(ValueError, match="cannot be an attribute of Coin"):
        opened(tmp_path, crafted(coin_with(1, name)))


@pytest.mark.parametrize("name", ["", "a b", "a.b", "1", 3, None])
def test_an_attribute_name_that_is_no_name_is_refused(name, tmp_path):
    with pytest.raises(ValueError, match="cannot be an attribute of Coin"):
        opened(tmp_path, crafted(coin_with(1, name)))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"model": 3}',
        b'{"library": 3, "model": ["estimator", "x", [], []]}',
        b'{"library": "1", "model": ["list"]}',
        b'{"library": "1", "model": {"a": 1}}',
        json.dumps({"library": "1", "model": coin_with(1), "more": 1}).encode(),
        b"\xff\xfe[\x00",
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 1_000_000,
        b"1." + b"1" * 1_000_000,
        b"NaN",
        b"-Infinity",
    ],
)
def test_a_hostile_header_is_one_clear_error(header, tmp_path):
    with pytest.raises(ValueError, match="cannot be restored: "):
        opened(tmp_path, crafted(header))


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 10**6, 29])
def test_a_header_longer_than_the_file_is_refused(length, tmp_path):
    with pytest.raises(ValueError, match=r"its header is .* bytes long"):
        opened(tmp_path, sealed(storage.PREFIX.pack(storage.MARK, 1, length) + b"x" * 28))


def test_a_value_nested_too_deep_is_refused(tmp_path):
    node = 1
    for _ in range(stored_values.DEEPEST):
        node = ["list", node]
    with pytest.raises(ValueError, match="nested more than"):
        opened(tmp_path, crafted(coin_with(node)))


def test_claimed_sizes_take_no_memory(tmp_path):
    files = [crafted(coin_with(["array", t, s, "C"])) for t, s in [("<f8", [10**9]), ("|S999999999", [9])]]
    tracemalloc.start()
    for data in files:
        with pytest.raises(ValueError, match="fewer array bytes"):
            opened(tmp_path, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def test_what_a_model_says_about_its_loaded_attributes_is_heard(tmp_path):
    coin = fitted()
    coin.codes_ = np.array([9], dtype=np.uint8)
    with pytest.raises(ValueError, match="cannot be restored: codes_ point past the last level"):
        reloaded(coin, tmp_path)


def test_any_failure_of_the_check_is_a_value_error(tmp_path):
    coin = fitted()
    coin.codes_ = "text"
    with pytest.raises(ValueError, match="cannot be restored: AttributeError"):
        reloaded(coin, tmp_path)


HOSTILE = [
    -1,
    2**70,
    1e300,
    None,
    True,
    "",
    "__class__",
    "|O",
    [],
    [[]],
    ["list"],
    {"a": 1},
    "C",
    ["objects", [1]],
]


def check_made_up(folder, n_files, seed):
    """Swap parts of a good header for hostile ones, or damage its bytes, and seal it again."""
    save(fitted(), folder / "good.snb")
    body = (folder / "good.snb").read_bytes()[:-32]
    length = storage.PREFIX.unpack_from(body)[2]
    header, content = body[22 : 22 + length], body[22 + length :]
    rng = random.Random(seed)
    errors = []
    for i in range(n_files):
        tree = json.loads(header)
        if i % 3:
            node = tree["model"]
            while True:
                place = rng.randrange(len(node))
                if not isinstance(node[place], list) or not node[place] or rng.random() < 0.2:
                    break
                node = node[place]
            node[place] = copy.deepcopy(rng.choice(HOSTILE))
            made_up = json.dumps(tree).encode()
        else:
            made_up = damaged(header, rng)
        (folder / "bad.snb").unlink(missing_ok=True)
        (folder / "bad.snb").write_bytes(crafted(made_up, content))
        try:
            again = load(folder / "bad.snb")
        except ValueError as error:
            errors.append(str(error))
        else:
            assert isinstance(again, Coin)
    assert all("bad.snb cannot be restored: " in error and "\n" not in error for error in errors)
    assert n_files / 2 < len(errors) < n_files  # some changes, of a number or a name, still make a model


def test_a_made_up_file_is_a_model_or_one_clear_error(tmp_path):
    check_made_up(tmp_path, 600, seed=3)


@pytest.mark.slow
def test_ten_thousand_made_up_files_are_models_or_clear_errors(tmp_path):
    check_made_up(tmp_path, 10_000, seed=4)


# Files that are something else


class Trap:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_is_not_opened(tmp_path):
    trap = pickle.dumps(Trap(tmp_path / "sprung"))
    with pytest.raises(ValueError, match=r"made-up\.snb is not a seminaive model file"):
        opened(tmp_path, trap)
    with pytest.raises(ValueError, match="cannot be restored"):
        opened(tmp_path, crafted(trap))
    with pytest.raises(ValueError, match="cannot be restored"):
        opened(tmp_path, crafted(coin_with(["array", "|O", [1], "C"]), trap))
    assert not (tmp_path / "sprung").exists()
    pickle.loads(trap)
    assert (tmp_path / "sprung").exists()  # the trap works


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", storage.MARK[:-1], b"\x93NUMPY", b"PK\x03\x04"])
def test_another_file_is_not_a_model(content, tmp_path):
    with pytest.raises(ValueError, match="is not a seminaive model file"):
        opened(tmp_path, content)


def test_a_file_that_stops_after_the_mark_is_damaged(tmp_path):
    with pytest.raises(ValueError, match="is damaged"):
        opened(tmp_path, storage.MARK)
    with pytest.raises(ValueError, match="is damaged"):
        opened(tmp_path, sealed(storage.MARK))


def test_a_folder_and_a_pipe_are_not_models(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ValueError, match="is not a seminaive model file"):
            load(path)


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.snb"):
        load(tmp_path / "none.snb")


# A file is written whole or not at all


class FullDisk:
    """A file that fails after some writes, as a full disk or an interrupt would make it."""

    def __init__(self, file, failure, writes):
        self.file, self.failure, self.left = file, failure, writes

    def __enter__(self):
        self.file.__enter__()
        return self

    def __exit__(self, *reason):
        return self.file.__exit__(*reason)

    def write(self, data):
        if not self.left:
            raise self.failure
        self.left -= 1
        return self.file.write(data)

    def flush(self):
        self.file.flush()

    def fileno(self):
        return self.file.fileno()


@pytest.mark.parametrize("failure", [OSError("no space left"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("step", [0, 1, 3, "fsync", "replace"])
def test_a_failed_save_leaves_the_old_file_and_no_other(failure, step, tmp_path, monkeypatch):
    path = tmp_path / "model.snb"
    save(Coin(smoothing=2), path)
    before = path.read_bytes()

    def fail(*_):
        raise failure

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    elif step == "replace":
        monkeypatch.setattr(Path, "replace", fail)
    else:
        open_file = Path.open
        monkeypatch.setattr(Path, "open", lambda *a, **k: FullDisk(open_file(*a, **k), failure, step))
    with pytest.raises(type(failure)):
        save(fitted(), path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_written_before_every_value_is_known_to_be_storable(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("opened"))
    coin = fitted()
    coin.zz_ = Other()
    with pytest.raises(ValueError, match="attribute 'zz_'"):
        save(coin, tmp_path / "model.snb")


def test_a_new_file_respects_the_umask_and_a_replaced_one_keeps_its_mode(tmp_path):
    path = tmp_path / "model.snb"
    old = os.umask(0o027)
    try:
        save(fitted(), path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    save(fitted(), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_saving_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.snb").symlink_to(tmp_path / "there" / "model.snb")
    save(fitted(), tmp_path / "link.snb")
    assert (tmp_path / "link.snb").is_symlink()
    assert load(tmp_path / "there" / "model.snb").smoothing == 0.5


def test_a_place_that_cannot_hold_a_file_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*none"):
        save(fitted(), tmp_path / "none" / "model.snb")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        save(fitted(), tmp_path)
    with pytest.raises(ValueError, match="not a regular file"):
        save(fitted(), tmp_path / "pipe")


def test_loading_imports_nothing(tmp_path, monkeypatch):
    save(fitted(), tmp_path / "model.snb")
    monkeypatch.setattr(builtins, "__import__", lambda *_, **__: pytest.fail("imported"))
    again = load(tmp_path / "model.snb")
    monkeypatch.undo()
    assert again.smoothing == 0.5
