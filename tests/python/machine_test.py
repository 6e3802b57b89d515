import re
from pathlib import Path

import pytest

import lanewise


def test_bundled_machines_have_names():
    assert "dgx-a100" in lanewise.machines()
    assert "hgx-h100-32" in lanewise.clusters()


def test_a_machine_says_what_is_in_it(dgx):
    assert dgx.name == "dgx-a100"
    assert dgx.gpus == [f"gpu{i}" for i in range(8)]
    assert dgx.cpus == ["cpu0", "cpu1"]
    assert set(dgx.gpus) | set(dgx.nics) | set(dgx.drives) | set(dgx.memories) == set(dgx.places)
    assert dgx.nodes == [""]
    gpu = next(device for device in dgx.devices if device.name == "gpu3")
    assert (gpu.kind, gpu.cpu) == ("gpu", "cpu0")
    assert gpu.part is not None and gpu.part.startswith("a100")
    assert "8 GPUs" in repr(dgx)


def test_a_cluster_has_nodes():
    cluster = lanewise.machine("hgx-h100-32")
    assert len(cluster.nodes) == 32 and cluster.nodes[:2] == ["node0", "node1"]
    assert len(cluster.gpus) == 8 * 32
    with pytest.raises(lanewise.PlanError):
        cluster.to_yaml()


def test_settings_give_a_changed_copy(dgx):
    changed = dgx.set("acs=on", "iommu=strict")
    assert changed != dgx
    assert dgx == lanewise.machine("dgx-a100")
    assert changed == dgx.set("acs=on").set("iommu=strict")
    assert hash(changed) == hash(dgx.set("acs=on").set("iommu=strict"))
    assert changed.to_dict()["settings"]["acs"] == "on"
    assert dgx != "dgx-a100"


def test_a_machine_reads_back_from_its_yaml(dgx, tmp_path: Path):
    changed = dgx.set("link@gpu3=gen3 x8").renamed("slow-gpu3")
    again = lanewise.Machine.from_yaml(changed.to_yaml())
    assert again == changed and again.name == "slow-gpu3"
    file = tmp_path / "slow.yaml"
    file.write_text(changed.to_yaml())
    assert lanewise.machine(file) == changed == lanewise.machine(str(file))


def test_a_changed_file_is_read_again(dgx, tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(dgx.to_yaml())
    before = lanewise.machine(file)
    file.write_text(dgx.set("acs=on").to_yaml())
    assert lanewise.machine(file) != before


def test_what_is_wrong_in_a_text_has_its_place():
    with pytest.raises(lanewise.InputError) as caught:
        lanewise.Machine.from_yaml("lanewise: machine/1\nmachine: mine\nspeed: 3\n", "mine.yaml")
    problems = caught.value.problems
    assert any((problem.file, problem.line) == ("mine.yaml", 3) and "speed" in problem.text for problem in problems)
    assert str(caught.value).startswith("mine.yaml:")


def test_unknown_names_are_answered_with_the_nearest(dgx):
    with pytest.raises(lanewise.InputError, match="dgx-a100"):
        lanewise.machine("dgx-a10O")
    with pytest.raises(lanewise.InputError, match="acs"):
        dgx.set("asc=on")
    assert issubclass(lanewise.InputError, lanewise.Error) and issubclass(lanewise.Error, Exception)


def test_the_version_is_a_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", lanewise.__version__)
