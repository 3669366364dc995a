"""Every check, as rows of a table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from labtests.simlab.reference import serving, theory
from labtests.simlab.reference.comparing import Comparison, reference
from labtests.simlab.reference.judging import Check, Judged

QUICK_CHECKS = (
    "PFC.i_pfc_only_2to1_25g",
    "PFC.i_pfc_only_2to1_25g.jain",
    "PFC.i_pfc_only_2to1_25g.queue",
    "PFC.i_pfc_only_2to1_25g.pauses",
    "PFC.i_pfc_only_8to1_100g.queue",
    "iv_mixed_on_off_25g_s1",
    "v_c_parkinglot_singlepath_pfc_only_s1",
    "v_d_victim_singlepath_pfc_only_k2_s1",
    "vi_dt_alpha1_8to1_25g",
    "vi_dt_alpha0.125_2to1_25g",
    "vii_headroom_25g_1us",
    "vii_headroom_100g_10us",
    "vii_headroom_8to1_100g_5us",
    "viii_fixedpoint_zhu_2to1_40g",
    "zhu_fp_2to1_40g_s1",
    "ix_gbn_25g_1us_p0.001_nack10us",
    "ix_gbn_100g_5us_p0.01_nack40us",
    "iii_b_dcqcn_pfcoff_nk10_2to1_25g_buf100k",
    "htsim_pfc_2to1_25g",
)
"""One or more of each kind, a few seconds together."""


def judged(*, quick: bool) -> Iterator[Judged]:
    """Every check as soon as it is done; `quick`: some of each kind."""
    comparison = Comparison(reference())
    for row in comparison.data.checks:
        if not quick or row["id"] in QUICK_CHECKS:
            yield comparison.judge(row)
    slow = () if quick else theory.SLOW
    for family in chain(theory.QUICK, serving.QUICK, slow):
        yield from family()
    for name, why in theory.NOT_MODELLED:
        yield Check(name=name, trust="F", quantity=name.replace("_", " ")).not_modelled(why)


def line(row: Judged) -> str:
    """A row as text, in columns."""
    ratio = "-" if row.ratio is None else f"{row.ratio:.4f}"
    return (
        f"{row.verdict:12} {row.trust} {row.check:46} {_number(row.expected):>11} "
        f"{_number(row.measured):>11} {ratio:>8}  {row.tolerance:22} {row.quantity}"
    )


def tally(rows: Sequence[Judged]) -> str:
    """How many of each trust passed; what was only shown, and what is not modelled, beside it."""
    found = Counter((row.trust, row.verdict) for row in rows)
    parts = [
        f"{trust}: {found[trust, 'pass']} of {found[trust, 'pass'] + found[trust, 'fail']} pass"
        for trust in ("A", "B", "F")
    ]
    shown = sum(row.verdict == "shown" for row in rows)
    missing = sum(row.verdict == "not modelled" for row in rows)
    return f"{'; '.join(parts)}; shown only: {shown}; not modelled: {missing}"


HEADING = (
    f"{'verdict':12} T {'check':46} {'expected':>11} {'measured':>11} {'ratio':>8}  "
    f"{'tolerance':22} quantity"
)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
