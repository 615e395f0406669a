"""What holds for every test: nothing of the person who runs it is read or written."""

import os
from collections.abc import Iterator

import hypothesis
import pytest

# A loaded machine is slow and not wrong. CI judges a commit, so it draws the same examples each time; others search on.
hypothesis.settings.register_profile("loopscope", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("loopscope")


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A home of the test run's own: the defaults lead to the logs, the store and the settings of whoever is logged in."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("LOOPSCOPE_", "XDG_")) and name != "LOOPSCOPE_PICTURE":
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        yield
