"""One cluster for all tests that need one: a fixture that modules import would be one for each of them."""

from tests.engines.ray_nodes import cluster

__all__ = ["cluster"]
