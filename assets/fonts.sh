#!/bin/sh
# Makes the four fonts in assets/fonts from Debian packages. Run it as root on Debian 12 (bookworm) from anywhere:
#
#   assets/fonts.sh
#
# The same packages give the same files, byte by byte. It takes about two minutes and fetches nothing else.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)

apt-get install -y --no-install-recommends \
	fonts-inter fonts-jetbrains-mono fonts-noto-cjk \
	python3-fonttools unicode-data >/dev/null

exec /usr/bin/python3 "$here/fonts.py" "$here/fonts"
