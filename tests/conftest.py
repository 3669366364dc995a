"""For every test: an example of hypothesis is not red because somebody else uses the machine."""

from hypothesis import settings

settings.register_profile("labtests", deadline=None)
settings.load_profile("labtests")
