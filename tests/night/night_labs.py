"""Testbeds of this repository that nights of tests run on."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
LAB = ROOT / "testbeds" / "h3c-s6550-cx4.yaml"
OTHER = ROOT / "testbeds" / "incast-5to1.yaml"
