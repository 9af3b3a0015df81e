#!/usr/bin/env python3
"""Writes licenses.txt: the licence texts of everything that is part of the program, as those licences ask for.

Run it in this folder after a library was added or its version changed; a test fails where that was forgotten.
"""
import json, os, re, subprocess, sys

NAMES = re.compile(r"^(LICEN[SC]E|COPYING|NOTICE|PATENTS|UNLICENSE)", re.I)
SYSTEMS = ("linux", "darwin", "windows")


def modules():
    """Every module whose packages are linked on some system, with the folder it stands in."""
    found = {}
    for system in SYSTEMS:
        out = subprocess.run(["go", "list", "-deps", "-e", "-tags", "migrated_fynedo", "-json=Module", "steward"], check=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ, GOOS=system, CGO_ENABLED="1")).stdout.decode()
        at, decoder = 0, json.JSONDecoder()
        while at < len(out):
            package, at = decoder.raw_decode(out, at)
            while at < len(out) and out[at].isspace():
                at += 1
            module = package.get("Module")
            if module and not module.get("Main"):
                found[module["Path"]] = (module["Version"], module["Dir"])
    return found


def texts(folder):
    """The licence files of a module, also those of parts of it that came from elsewhere."""
    out = []
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in ("testdata", "cmd", ".git", "examples", "_examples"))
        for name in sorted(files):
            path = os.path.join(here, name)
            if NAMES.match(name) and not name.endswith((".go", ".tmpl", ".json", ".xml")) and os.path.getsize(path) < 200_000:
                out.append((os.path.relpath(path, folder), open(path, encoding="utf-8", errors="replace").read().strip()))
    return out


def main():
    found = modules()
    goroot = subprocess.run(["go", "env", "GOROOT"], check=True, stdout=subprocess.PIPE).stdout.decode().strip()
    parts = [("Go", "the language's own library", [("LICENSE", open(os.path.join(goroot, "LICENSE"), encoding="utf-8").read().strip())])]
    for path in sorted(found):
        version, folder = found[path]
        own = texts(folder)
        if not own:
            sys.exit(f"{path} {version} has no licence file")
        parts.append((path, version, own))
    seen, lines = {}, []
    for name, version, own in parts:
        lines.append(f"{name} {version}")
        for file, text in own:
            key = re.sub(r"\s+", " ", text)
            if key in seen:
                lines.append(f"    {file}: the same text as that of {seen[key]}")
                continue
            seen[key] = f"{name}, {file}"
            lines += [f"    {file}:", "", text.replace("\r\n", "\n"), ""]
        lines += ["", "-" * 100, ""]
    with open("licenses.txt", "w", encoding="utf-8") as out:
        out.write("\n".join(line.rstrip() for block in lines for line in block.split("\n")) + "\n")


main()
