"""What Python calls of the compiled network, compiled ahead (code_folder.py).

What these functions call goes with them. One that is missing here works, but is compiled by each
process anew: tests/network looks for that.
"""

import inspect
from pathlib import Path
from typing import Any

from labtests.network.arithmetic import random_below
from labtests.network.arrivals import break_silence
from labtests.network.compiled import keep_in
from labtests.network.compiler import numba
from labtests.network.engine import advance, cut_port
from labtests.network.events import timer_slot, wake_by, wake_port
from labtests.network.flows import choose_lane, make_ready, unschedule_flow, wake_flow_by
from labtests.network.guarding import restore, watch_pauses
from labtests.network.memory import is_dynamic, recount_lossy, shared_use, threshold_cells
from labtests.network.pause_frames import end_storm
from labtests.network.pausing import hold, hold_link
from labtests.network.receiving import begin_delivery
from labtests.network.reliable import window_end
from labtests.network.watching import advance_sampling

OF_INTEGERS: tuple[Any, ...] = (
    advance,
    begin_delivery,
    break_silence,
    choose_lane,
    cut_port,
    end_storm,
    hold,
    hold_link,
    is_dynamic,
    make_ready,
    random_below,
    recount_lossy,
    restore,
    shared_use,
    threshold_cells,
    timer_slot,
    unschedule_flow,
    wake_by,
    wake_flow_by,
    wake_port,
    watch_pauses,
    window_end,
)
SAMPLING: Any = advance_sampling


def compile_all(folder: Path) -> None:
    """Machine code of everything that Python calls is in the folder."""
    keep_in(folder)
    int64 = numba().int64
    for function in OF_INTEGERS:
        function.compile((int64,) * len(inspect.signature(function.py_func).parameters))
    SAMPLING.compile((int64, int64, int64[::1], int64[::1], int64[:, ::1]))
