"""Tensors of PyTorch as outputs, inputs and models, by the protocols of arrays; skipped where it is missing."""

from __future__ import annotations

import numpy as np
import pytest

import dpaudit
from dpaudit.audit.checks_and_gaps import Answer
from dpaudit.outputs.canonical import canonical

torch = pytest.importorskip("torch")


def seeded(rng):
    return torch.Generator().manual_seed(int(rng.integers(2**62)))


def linear(x, rng):
    model = torch.nn.Linear(2, 1)
    with torch.no_grad():
        model.weight.copy_(x + 0.1 * torch.randn(1, 2, generator=seeded(rng)))
        model.bias.zero_()
    return model


OUTPUTS = {
    "tensor": lambda x, rng: x + 0.1 * torch.randn(3, generator=seeded(rng)),
    "with a gradient": lambda x, rng: torch.zeros(2, requires_grad=True) + linear(x, rng).weight,
    "half precision": lambda x, rng: (x + 0.1 * torch.randn(3, generator=seeded(rng))).to(torch.bfloat16),
    "sparse": lambda x, rng: torch.eye(2).to_sparse() * float(OUTPUTS["tensor"](x, rng)[0]),
    "model": linear,
    "state": lambda x, rng: linear(x, rng).state_dict(),
}


@pytest.mark.parametrize("mechanism", OUTPUTS.values(), ids=OUTPUTS.keys())
def test_what_a_tensor_holds_is_looked_at(mechanism):
    finding = dpaudit.audit_privacy(mechanism, [(0.0, 1.0)], epsilon=1.0, trials=300)
    assert finding.verdict == "violation"
    assert all(check.passed for check in finding.checks)


def test_equal_tensors_are_one_outcome():
    assert canonical(torch.ones(2).to(torch.bfloat16)) == canonical(torch.ones(2).to(torch.bfloat16))
    assert canonical(torch.eye(2).to_sparse()) != canonical(2 * torch.eye(2).to_sparse())


def test_tensors_are_inputs_too_and_one_that_is_changed_is_refused():
    pair = (torch.zeros(3), torch.tensor([0.0, 0.0, 5.0]))
    assert dpaudit.audit_privacy(lambda x, rng: float(x.sum()), [pair], epsilon=1.0, trials=100).verdict == "violation"
    with pytest.raises(dpaudit.InputError, match="changes its input"):
        dpaudit.audit_privacy(lambda x, rng: float(x.add_(1).sum()), [pair], epsilon=1.0, trials=100)


def test_the_global_generator_is_noticed():
    finding = dpaudit.audit_privacy(lambda x, rng: x + torch.randn(()), [(0.0, 1.0)], epsilon=3.0, trials=100)
    assert [check.answer for check in finding.checks if not check.passed] == [Answer.GLOBAL]


def test_a_tensor_without_values_is_refused_in_words():
    with pytest.raises(dpaudit.InputError, match="type Tensor gives NumPy no array"):
        canonical(torch.zeros(2, device="meta"))


def test_the_noise_of_a_generator_that_is_seeded_here_repeats():
    runs = [OUTPUTS["tensor"](0.0, np.random.default_rng(1)) for _ in range(2)]
    assert torch.equal(*runs)
