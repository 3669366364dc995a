"""Files by their path, or by a bare name in the folder where such files are kept."""

from pathlib import Path


def located(text: str, folder: str = "testbeds") -> Path:
    """This path, or <folder>/<text>.yaml when a bare name is given and there is such a file."""
    named = Path(folder) / f"{text}.yaml"
    if not Path(text).exists() and Path(text).name == text and named.is_file():
        return named
    return Path(text)
