"""Figures are the program's own."""

import math

import numpy as np
import pytest

import lanewise


@pytest.mark.parametrize("name", ["dgx-a100", "a100x8-pcie-4sw", "rtx4090-x2"])
def test_a_matrix_is_that_of_the_program(program, name):
    assert lanewise.matrix(lanewise.machine(name)).to_dict() == program("matrix", name)


def test_a_matrix_with_settings_places_and_sizes_is_that_of_the_program(program, pcie):
    matrix = lanewise.matrix(pcie.set("acs=on"), places=["gpu0..gpu2", "cpu1"], bytes=1 << 20, op="write")
    options = ["--set", "acs=on", "--places", "gpu0..gpu2,cpu1", "--bytes", "1 MiB", "--op", "write"]
    assert matrix.to_dict() == program("matrix", "a100x8-pcie-4sw", *options)
    assert matrix.names[:3] == ["gpu0", "gpu1", "gpu2"] and len(matrix.names) == 4


def test_arrays_hold_the_cells(pcie):
    matrix = lanewise.matrix(pcie)
    cells = {(cell["from"], cell["to"]): cell for cell in matrix.to_dict()["cells"]}
    assert matrix.bandwidth_GBps.shape == (8, 8) and matrix.bandwidth_GBps.dtype == np.float64
    for i, source in enumerate(matrix.names):
        for k, target in enumerate(matrix.names):
            cell = cells[source, target]
            assert matrix.bandwidth_GBps[i, k] == pytest.approx(cell["bandwidth_GBps"], rel=1e-12)
            assert matrix.time_us[i, k] == pytest.approx(cell["time_us"], rel=1e-12)
            assert matrix.mechanisms[i][k] == cell["mechanism"]
            assert matrix.path_classes[i][k] == cell["class"]


def test_no_way_is_nan(dgx):
    matrix = lanewise.matrix(dgx, places=["gpu0", "gpu1"], op="atomic")
    nowhere = lanewise.matrix(lanewise.machine("a100x8-pcie-4sw"), places=["gpu0", "gpu1"], op="atomic")
    assert not math.isnan(matrix.bandwidth_GBps[0, 1])
    assert math.isnan(nowhere.bandwidth_GBps[0, 1]) and nowhere.mechanisms[0][1] is None


def test_both_directions_need_a_run(pcie):
    both = lanewise.matrix(pcie, places=["gpu0", "gpu1"], mode="estimate", bidirectional=True)
    one = lanewise.matrix(pcie, places=["gpu0", "gpu1"], mode="estimate")
    assert both.bandwidth_GBps[0, 1] > one.bandwidth_GBps[0, 1]
    with pytest.raises(lanewise.PlanError):
        lanewise.matrix(pcie, bidirectional=True)


def test_a_simulated_matrix_is_that_of_the_program(program, pcie, simulator):
    assert lanewise.matrix(pcie, mode="sim").to_dict() == program("matrix", "a100x8-pcie-4sw", "--mode", "sim")


@pytest.mark.parametrize(
    "machine, source, target",
    [("dgx-a100", "gpu0", "gpu5"), ("a100x8-pcie-4sw", "gpu0", "cpu1"), ("dgx-1-v100", "gpu0", "gpu5")],
)
def test_an_explained_choice_is_that_of_the_program(program, machine, source, target):
    choice = lanewise.why(lanewise.machine(machine), source, target, "1 MiB")
    shown = program("why", machine, source, target, "--bytes", "1 MiB")
    assert choice.to_dict() == shown
    assert choice.chosen is not None
    assert choice.chosen.time_us == pytest.approx(shown["candidates"][shown["chosen"]]["time_us"], rel=1e-12)
    refused = [candidate for candidate in choice.candidates if not candidate.legal]
    assert all(candidate.refused_by and candidate.reason and candidate.time_us is None for candidate in refused)


def test_a_transfer_across_a_cluster_is_that_of_the_program(program):
    choice = lanewise.why(lanewise.machine("hgx-h100-32"), "node0/gpu0", "node3/gpu1")
    shown = program("why", "hgx-h100-32", "node0/gpu0", "node3/gpu1")
    assert [candidate.get("time_us") for candidate in choice.to_dict()["candidates"]] == [
        candidate.get("time_us") for candidate in shown["candidates"]
    ]


@pytest.mark.parametrize("size", [1 << 28, "256 MiB", np.int64(1 << 28)])
def test_sizes_are_numbers_or_texts(dgx, size):
    assert lanewise.matrix(dgx, places=["gpu0", "gpu1"], bytes=size).bytes == 1 << 28


@pytest.mark.parametrize(
    "size, error", [(-1, lanewise.InputError), ("256", lanewise.InputError), (1.5, TypeError), (None, TypeError)]
)
def test_other_sizes_are_refused(dgx, size, error):
    with pytest.raises(error):
        lanewise.matrix(dgx, bytes=size)


def test_words_that_there_are_not_are_refused(dgx):
    for arguments in ({"op": "teleport"}, {"mode": "hw"}, {"places": ["gpu99"]}):
        with pytest.raises(lanewise.InputError):
            lanewise.matrix(dgx, **arguments)
    with pytest.raises(lanewise.InputError, match="gpu7"):
        lanewise.why(dgx, "gpu0", "gpu77")
