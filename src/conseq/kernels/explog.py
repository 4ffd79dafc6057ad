"""exp and log without branches and calls, so that LLVM vectorises the loops they stand in.

Both are within 1 or 2 units of the last place. `math.exp` costs four times as much in such a loop.
A numba cache does not see that a function of another file changed: after an edit here, touch the
kernels that import it.
"""

from __future__ import annotations

import math

import numpy as np

from conseq.kernels.compiled import helper

LOWEST = -708.0
"""Below this exp gives 0; above, a normal number."""

LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # 32 bits, so that n · LN2_HIGH is exact
LN2_LOW = 1.90821492927058770002e-10
ROUNDING = 6755399441055744.0  # 1.5 · 2^52: adding it rounds to an integer, which the low bits then hold
FACTORS = tuple(1.0 / math.factorial(k) for k in range(13, -1, -1))  # of r^13, r^12, … in e^r
HALF_ROOT_BITS = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)


@helper(error_model="numpy", fastmath={"contract"})
def exp(x: float) -> float:
    """e^x for x ≤ 0 or moderate x > 0 (below 709); −inf gives 0.

    x = n · ln 2 + r with |r| ≤ ln 2 / 2;  e^x = 2^n · Σ_{k≤13} r^k / k!
    """
    y = x if x > LOWEST else LOWEST
    shifted = np.float64(y * LOG2_E + ROUNDING)
    n = shifted - ROUNDING
    r = (y - n * LN2_HIGH) - n * LN2_LOW
    p = 0.0
    for factor in FACTORS:
        p = p * r + factor
    power = np.int64((shifted.view(np.int64) + np.int64(1023)) << np.int64(52)).view(np.float64)
    return p * power if x > LOWEST else 0.0


@helper(error_model="numpy", fastmath={"contract"})
def log(x: float) -> float:
    """ln x for a normal number x > 0; for 0 some number, never an error.

    x = 2^k · m with m in [√½, √2), f = m − 1, s = f / (2 + f):
    ln m = f − f²/2 + s · (f²/2 + R(s²)), R the minimax polynomial of fdlibm's e_log.c
    """
    bits = np.float64(x).view(np.int64)
    k = (bits - np.int64(HALF_ROOT_BITS)) >> np.int64(52)
    f = np.int64(bits - (k << np.int64(52))).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    odd = w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01))
    rest = even + z * (6.666666666666735130e-01 + odd)
    half = 0.5 * f * f
    n = np.float64(k)
    return n * LN2_HIGH - ((half - (s * (half + rest) + n * LN2_LOW)) - f)
