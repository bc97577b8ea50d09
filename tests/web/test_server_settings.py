"""server.toml: what it says, and every mistake in it at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

import commands
from shoal.errors import BadDefinition, UserError
from shoal.web.settings import Limits
from shoal.web.settings_file import TABLES, _File, read_settings
from shoal.web.team import lines_of_new_user
from shoal.web.users import hash_of

HASH = hash_of("secret")
USER = f'[[users]]\nname = "alice"\nroles = ["custodian"]\ntoken = "{HASH}"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "server.toml"
    path.write_text(text, encoding="utf-8")
    return path


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(BadDefinition) as caught:
        read_settings(written(folder, text))
    return [f"{mistake.key}: {mistake.what}" for mistake in caught.value.mistakes]


def test_everything_that_can_be_said_is_read(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text("mart: m\n")
    settings = read_settings(
        written(
            tmp_path,
            'folder = "data"\nhost = "10.0.0.7"\nport = 9000\nhttps = true\n'
            'hosts = ["shoal.example.org"]\nproxies = ["10.0.0.0/24"]\n'
            '[limits]\nupload = "1 GB"\nkeep = "2 d"\njob_time = "5 min"\n'
            f"{USER}"
            '[sources.patients]\ntitle = "Patients"\nsource = "p.parquet"\n'
            '[sources.register]\nsource = {url = "sqlite:////r.db", table = "r"}\n'
            'users = ["alice"]\n'
            '[mart]\ncatalog = "catalog.yaml"\napproval = "never"\n',
        )
    )
    assert settings.folder == tmp_path / "data"
    assert (settings.host, settings.port, settings.https) == ("10.0.0.7", 9000, True)
    assert settings.limits.upload_bytes == 10**9
    assert settings.limits.keep_seconds == 2 * 24 * 3600
    assert settings.limits.job_seconds == 300
    assert settings.users[0].token_hash == HASH
    assert settings.sources["patients"].location == {"path": str(tmp_path / "p.parquet")}
    assert settings.sources["patients"].roles == {"custodian"}
    assert settings.sources["register"].roles == frozenset()
    assert settings.mart is not None
    assert (settings.mart.catalog, settings.mart.approval) == (tmp_path / "catalog.yaml", "never")


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    text = (
        'folder = 7\nhots = ["x"]\nport = "99"\nproxies = ["*"]\n'
        '[limits]\nuploads = "2 GiB"\nrows = 0\n'
        '[[users]]\nname = "al ice"\nroles = ["custodain"]\ntoken = "plain-secret"\n'
        '[sources.x]\nsource = {pth = "a.csv"}\n[mart]\napproval = "sometimes"\n'
    )
    found = mistakes(tmp_path, text)
    keys = {line.partition(":")[0] for line in found}
    assert keys == {
        "folder", "hots", "port", "proxies.1", "limits.uploads", "limits.rows", "users.1.name",
        "users.1.roles.1", "users.1.token", "sources.x.source", "mart.catalog", "mart.approval",
    }  # fmt: skip
    assert "plain-secret" not in "".join(found)


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        (f'host = "0.0.0.0"\n{USER}', "https: is not set"),
        (f"https = true\n{USER}", "hosts: is missing"),
        (USER + USER.replace(HASH, hash_of("b")), "users: 'alice' is there twice"),
        (USER + USER.replace("alice", "bob"), "users: several users have the same token"),
        (f'{USER}[sources.a]\nsource = "a.csv"\nusers = ["alcie"]\n', "'alcie' is no user"),
        (f'{USER}[mart]\ncatalog = "none.yaml"\n', "mart.catalog: no file"),
        ("users = []\n", "users: is empty"),
        (f"{USER}name = 3\nname = 4\n", "TOML: cannot be read as TOML"),
    ],
)
def test_mistakes_of_several_keys_are_refused(tmp_path: Path, text: str, mistake: str) -> None:
    found = mistakes(tmp_path, f'folder = "data"\n{text}')
    assert any(mistake in line for line in found), found


def test_a_new_token_is_shown_once_and_its_lines_can_be_pasted(tmp_path: Path) -> None:
    shown = lines_of_new_user("alice", ["custodian", "admin"])
    token = re.findall(r"^  (\S+)$", shown, re.MULTILINE)[0]
    lines = shown.partition("Lines for server.toml:")[2]
    settings = read_settings(written(tmp_path, f'folder = "data"\n{lines}'))
    assert settings.users[0].token_hash == hash_of(token)
    assert token not in lines
    with pytest.raises(UserError, match="no role"):
        lines_of_new_user("alice", ["king"])


def test_check_says_that_the_settings_are_right_and_starts_nothing(tmp_path: Path) -> None:
    config = written(tmp_path, f'folder = "data"\n{USER}')
    done = commands.shoal("serve", "--config", config, "--check", folder=tmp_path)
    assert (done.returncode, "is right" in done.stdout) == (0, True)
    assert not (tmp_path / "data").exists()


def test_every_settings_file_of_the_guide_is_right_and_every_key_is_explained(
    tmp_path: Path,
) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "server.md").read_text()
    files = re.findall(r"^```toml\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert len(files) == 3
    for text in files:
        read_settings(written(tmp_path, text))
    defaults = read_settings(written(tmp_path, files[2])).limits
    assert defaults == Limits()
    tables: list[type[BaseModel]] = [_File, *TABLES.values()]
    for table in tables:
        for name, field in table.model_fields.items():
            assert f"`{field.alias or name}" in guide or f"{field.alias or name} =" in guide
