# SPDX-License-Identifier: Apache-2.0
"""A parameter on devices, as methods of one's own see it: products are reads of the array, the rest is what NumPy makes of its elements."""

import numpy as np
import pytest

from nudge.dynamics import ArrayRead, elements

ROWS = 4


def read(values, log):
    """An array of exact numbers that notes how it is read."""
    matrix = np.atleast_2d(values)

    def product(transposed, x):
        log.append("product")
        assert x.flags.c_contiguous and x.shape[1] == matrix.shape[1 if transposed else 0]
        return x @ (matrix.T if transposed else matrix)

    def all_elements():
        log.append("elements")
        return values.copy()

    return ArrayRead(values.shape, product, all_elements, lambda: ROWS)


RNG = np.random.default_rng(0)
W, V, M, X, Y = (RNG.normal(size=shape) for shape in ((2, 3), (3,), (1, 3), (ROWS, 2), (ROWS, 3)))


@pytest.mark.parametrize("act", [
    lambda w, v, m: X @ w, lambda w, v, m: Y @ w.T, lambda w, v, m: w @ Y.T, lambda w, v, m: w.T @ X.T, lambda w, v, m: X[0] @ w,
    lambda w, v, m: w @ Y[0], lambda w, v, m: X.astype(np.float32) @ w, lambda w, v, m: X[None, :, ::-1] @ w, lambda w, v, m: Y @ v,
    lambda w, v, m: Y + v, lambda w, v, m: Y - m, lambda w, v, m: v * Y, lambda w, v, m: Y[:, :3] @ v + X[:, 0], lambda w, v, m: [1.0, 2.0] @ w,
])
def test_products_and_vectors_beside_rows_are_reads_of_the_array(act):
    log = []
    np.testing.assert_allclose(act(read(W, log), read(V, log), read(M, log)), act(W, V, M), rtol=1e-6, atol=1e-12)
    assert log == ["product"]


@pytest.mark.parametrize("act", [
    lambda w, v: np.tanh(w), lambda w, v: w + 1, lambda w, v: -v, lambda w, v: w[0, 1], lambda w, v: w.sum(), lambda w, v: np.add.outer(Y, v),
    lambda w, v: np.dot(X, w), lambda w, v: np.einsum("ij,jk->ik", X, w), lambda w, v: np.linalg.norm(w), lambda w, v: (X + 1j) @ w,
    lambda w, v: V @ v + 0 * v.sum(), lambda w, v: np.concatenate([w, w]), lambda w, v: np.array(list(w)), lambda w, v: abs(w.T), lambda w, v: v.T,
])
def test_the_rest_is_what_numpy_makes_of_its_elements(act):
    log = []
    np.testing.assert_allclose(act(read(W, log), read(V, log)), act(W, V), rtol=1e-12)


def test_it_has_the_shape_of_its_values_and_cannot_be_written():
    w, scalar = read(W, []), read(np.array(0.5), [])
    assert w.shape == np.shape(w) == (2, 3) and w.T.shape == (3, 2) and len(w) == 2 and w.ndim == 2
    assert float(scalar) == 0.5
    np.testing.assert_array_equal(scalar * Y, 0.5 * Y)
    np.testing.assert_array_equal(elements({"w": w})["w"], W)
    with pytest.raises(ValueError, match="do not fit"):
        Y @ w
    with pytest.raises(TypeError, match="cannot be written"):
        w += 1
