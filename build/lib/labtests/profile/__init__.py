"""Profiles: an intended lossless configuration, and what it takes to make a lab so."""

from labtests.profile.form import ProfileFile, json_schema
from labtests.profile.reader import load

__all__ = ["ProfileFile", "json_schema", "load"]
