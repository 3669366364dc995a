"""Profiles: an intended lossless configuration, and what it takes to make a lab so."""

from labtests.profile.form import ProfileFile, json_schema
from labtests.profile.reader import Profile, load

__all__ = ["Profile", "ProfileFile", "json_schema", "load"]
