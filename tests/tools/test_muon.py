"""The optimizer that trains the shipped model, against numpy's singular value decomposition."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
muon = pytest.importorskip("tools.muon")


@pytest.mark.parametrize("shape", [(8, 8), (6, 20), (20, 6)])
def test_orthogonal_against_singular_values(shape: tuple[int, int]) -> None:
    """Same singular vectors, and all singular values near one (the reference aims at 0.7 to 1.2)."""
    matrix = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    u, _, v = np.linalg.svd(matrix, full_matrices=False)
    turned = u.T @ muon.orthogonal(torch.from_numpy(matrix)).numpy() @ v.T
    assert np.diag(turned) == pytest.approx(np.ones(min(shape)), abs=0.4)
    assert turned - np.diag(np.diag(turned)) == pytest.approx(np.zeros_like(turned), abs=1e-3)


def test_a_step_goes_down_a_bowl() -> None:
    """|W - T|² falls to about the size of one step."""
    target, weights = torch.eye(5), torch.zeros(5, 5, requires_grad=True)
    optimizer = muon.Muon([weights], 0.05)
    for _ in range(60):
        optimizer.zero_grad()
        ((weights - target) ** 2).sum().backward()
        optimizer.step()
    assert float((weights - target).detach().abs().max()) < 0.2
