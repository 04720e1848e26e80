"""The file format of recorded pairs: written and read, whole and in chunks, and what it refuses."""

import io
import json
import re
import zipfile

import numpy as np
import pytest

from resispec_ref.distributions import law_from_logits, overlap
from resispec_ref.models.pairs import Pairs, iterate_pairs, load_pairs, pairs_shape, save_pairs

ARRAYS = ("target_logits", "draft_logits", "token_ids")


def arrays(positions=7, width=5):
    """Valid arrays with a padded place in row 2, as the recorder writes them."""
    rng = np.random.default_rng(0)
    f_p, f_q = rng.normal(size=(2, positions, width)).astype(np.float16)
    ids = np.sort(rng.permuted(np.tile(np.arange(3 * width, dtype=np.int32), (positions, 1)), axis=1)[:, :width])
    if positions > 2:
        f_p[2, -1], f_q[2, -1], ids[2, -1] = -np.inf, -np.inf, -1
    return {"target_logits": f_p, "draft_logits": f_q, "token_ids": ids}


def pairs_of(given, **changes):
    return Pairs(**(given | changes))


def same(first, second):
    return all(np.array_equal(getattr(first, key), getattr(second, key)) for key in ARRAYS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pairs.npz"


def test_what_is_saved_is_loaded_and_numpy_reads_it_too(path):
    pairs = Pairs(**arrays(), metadata={"target": "größer", "width": 5})
    save_pairs(path, pairs)
    loaded = load_pairs(path)
    assert same(loaded, pairs)
    assert loaded.metadata == pairs.metadata
    assert (loaded.positions, loaded.width, loaded.target_logits.dtype) == (7, 5, np.float16)
    with np.load(path) as plain:
        assert all(np.array_equal(plain[key], getattr(pairs, key)) for key in ARRAYS)
        assert json.loads(str(plain["metadata"])) == pairs.metadata


def test_saving_uses_the_given_name_and_repeats_byte_for_byte(tmp_path):
    for name in ("one", "two"):
        save_pairs(tmp_path / name, Pairs(**arrays()))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed], ids=["stored", "deflated"])
@pytest.mark.parametrize("chunk", [1, 3, 7, 100])
def test_streaming_equals_loading(path, write, chunk):
    write(path, **arrays(), metadata=np.array('{"seed": 3}'))
    parts = list(iterate_pairs(path, chunk=chunk))
    assert [part.first_row for part in parts] == list(range(0, 7, chunk))
    assert all(part.positions <= chunk and part.metadata == {"seed": 3} for part in parts)
    for key in ARRAYS:
        whole = np.concatenate([getattr(part, key) for part in parts])
        assert np.array_equal(whole, getattr(load_pairs(path), key))
        assert np.array_equal(whole, arrays()[key])


def test_pairs_in_memory_are_cut_into_the_same_chunks(path):
    pairs = Pairs(**arrays())
    save_pairs(path, pairs)
    from_memory, from_file = (list(iterate_pairs(source, chunk=3)) for source in (pairs, path))
    assert all(same(a, b) and a.first_row == b.first_row for a, b in zip(from_memory, from_file, strict=True))
    assert pairs_shape(path) == pairs_shape(pairs) == (7, 5)


def test_a_file_larger_than_what_is_held_is_streamed(path):
    """134 MB, deflated: the peak of traced memory stays near one chunk, far from the file."""
    import tracemalloc

    positions, width, chunk = 4096, 4096, 16
    ids = np.broadcast_to(np.arange(width, dtype=np.int32), (positions, width))
    logits = np.zeros((positions, width), np.float16)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for key, array in (("target_logits", logits), ("draft_logits", logits), ("token_ids", ids)):
            with archive.open(f"{key}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array_header_1_0(
                    file, {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
                )
                for row in array:
                    file.write(row.tobytes())
    del logits
    tracemalloc.start()
    try:
        total = sum(part.positions for part in iterate_pairs(path, chunk=chunk))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == positions
    # A chunk is 8 bytes an entry; checking it sorts, compares and copies a few arrays of that size.
    assert peak < 10 * chunk * width * 8 < positions * width * 8 / 20


@pytest.mark.parametrize("dtypes", [("f4", "i8"), ("f8", "u2"), (">f2", ">i4")], ids=str)
def test_other_number_types_and_a_missing_metadata_are_read(path, dtypes):
    given = arrays(positions=2)  # no padding: an unsigned type has no -1
    stored = {key: x.astype(dtypes[key == "token_ids"]) for key, x in given.items()}
    np.savez(path, **stored)
    loaded = load_pairs(path)
    assert loaded.metadata == {}
    assert all(np.array_equal(getattr(loaded, key), given[key]) for key in ARRAYS)
    assert loaded.target_logits.dtype == stored["target_logits"].dtype


BAD_ROWS = {
    "nan": ("target_logits", (4, 1), np.nan, r"target_logits, row 4: found nan; logits are finite or -inf"),
    "+inf": ("draft_logits", (3, 0), np.inf, r"draft_logits, row 3: found inf; logits are finite or -inf"),
    "masked": ("draft_logits", (5, slice(None)), -np.inf, r"draft_logits, row 5: found -inf; a row needs at least one"),
    "padding": (
        "target_logits",
        (2, 4),
        0.5,
        r"target_logits, row 2: found 0.5; padding \(token id -1\) has the logit",
    ),
    "negative": ("token_ids", (6, 0), -2, r"token_ids, row 6: found -2; ids are 0 or more, or -1"),
    "repeated": ("token_ids", (6, slice(2)), 14, r"token_ids, row 6: found 14; a row lists each token once"),
}


@pytest.mark.parametrize(("key", "place", "value", "message"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_is_named_with_its_number_in_the_file(path, key, place, value, message):
    given = arrays()
    given[key][place] = value
    with pytest.raises(ValueError, match="^" + message):
        Pairs(**given)
    np.savez(path, **given)
    with pytest.raises(ValueError, match=r"pairs\.npz: " + message):
        list(iterate_pairs(path, chunk=2))


def test_two_padded_places_are_no_repeated_token():
    given = arrays()
    for key, value in zip(ARRAYS, (-np.inf, -np.inf, -1), strict=True):
        given[key][2, 3:] = value
    assert Pairs(**given).width == 5


def test_shapes_and_types_are_named():
    given = arrays()
    cases = [
        (
            {"draft_logits": given["draft_logits"][:, :4]},
            r"draft_logits has shape \(7, 4\), but target_logits .*\(7, 5\)",
        ),
        ({"token_ids": given["token_ids"][0]}, r"token_ids has shape \(5,\); it has to be \(positions, width\)"),
        ({key: given[key][:0] for key in ARRAYS}, r"target_logits has shape \(0, 5\)"),
        ({"token_ids": given["token_ids"] * 1.0}, r"token_ids has dtype float64; it has to hold integers"),
        ({"target_logits": given["token_ids"]}, r"target_logits has dtype int32; .* floating-point"),
    ]
    for changes, message in cases:
        with pytest.raises(ValueError, match=message):
            pairs_of(given, **changes)


@pytest.mark.parametrize("key", ARRAYS)
def test_a_missing_array_is_named(path, key):
    given = arrays()
    del given[key]
    np.savez(path, **given)
    with pytest.raises(ValueError, match=rf"pairs\.npz: no array '{key}'; a pairs file has target_logits, "):
        load_pairs(path)


def test_files_that_are_no_pairs_file(path):
    path.write_text("positions,width\n")
    with pytest.raises(ValueError, match=r"pairs\.npz: not a readable \.npz file \(File is not a zip file\)"):
        load_pairs(path)

    np.savez(path, **(arrays() | {"target_logits": np.asfortranarray(arrays()["target_logits"])}))
    with pytest.raises(ValueError, match=r"target_logits is stored column by column; save numpy\.ascontiguousarray"):
        pairs_shape(path)

    np.savez(path, **(arrays() | {"token_ids": arrays()["token_ids"].astype(object)}))
    with pytest.raises(ValueError, match=r"token_ids has dtype object"):
        load_pairs(path)

    for text, message in (("[1]", r"metadata is '\[1\]'; it has to be a JSON object"), ("{", r"metadata is not JSON")):
        np.savez(path, **arrays(), metadata=np.array(text))
        with pytest.raises(ValueError, match=message):
            load_pairs(path)

    with pytest.raises(FileNotFoundError):
        load_pairs(path.with_name("absent.npz"))
    with pytest.raises(ValueError, match="chunk is 0"):
        next(iterate_pairs(chunk=0))


def rewritten(path, key, change):
    """The file with the bytes of one member changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[f"{key}.npy"] = change(members[f"{key}.npy"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_a_cut_off_or_damaged_array_is_found_before_it_is_read(path):
    np.savez(path, **arrays())
    rewritten(path, "draft_logits", lambda data: data[:-2])
    with pytest.raises(ValueError, match=r"draft_logits does not hold the \(7, 5\) entries that its header states"):
        pairs_shape(path)

    np.savez(path, **arrays())
    rewritten(path, "draft_logits", lambda data: b"no array")
    with pytest.raises(ValueError, match=r"draft_logits is not a NumPy array"):
        pairs_shape(path)

    np.savez_compressed(path, **arrays())
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        start = archive.getinfo("draft_logits.npy").header_offset
    whole[start + 120 : start + 140] = b"\xff" * 20
    path.write_bytes(whole)
    with pytest.raises(ValueError, match=r"pairs\.npz: (not a readable|draft_logits is not)"):
        load_pairs(path)


def test_the_embedded_recording():
    pairs = load_pairs()
    about = pairs.metadata
    assert (pairs.positions, pairs.width) == pairs_shape() == (128, 4096)
    assert about["skipped_layers"] == [14, 15, 16, 17]
    assert "renormalised" in about["note"]
    assert "Q4_1" in about["weights"]["target"]
    assert pairs.token_ids.max() < about["vocabulary"] == 49152
    assert np.all(np.sum(pairs.token_ids == -1, axis=1) <= 1)
    assert np.all(pairs.target_logits.max(axis=1) == 0)
    p, q = law_from_logits(pairs.target_logits), law_from_logits(pairs.draft_logits)
    kept = float(np.mean(overlap(p, q)))
    # Leaving out mass e of p and d of q moves the overlap by at most e + d; float16 logits above -16 are off by at most
    # 2^-8 (half a unit in the last place), a probability by that relative amount, an overlap by twice that.
    lost = sum(about["mass_left_out"][name]["mean"] for name in ("target", "draft"))
    assert abs(kept - about["overlap"]) < lost + 2 * 2**-8
    assert 0.6 < kept < 0.7


def test_the_metadata_does_not_name_a_place_on_a_disk():
    assert not re.search(r"(/[a-z]+){2}", json.dumps(load_pairs().metadata))
