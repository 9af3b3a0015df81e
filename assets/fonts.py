"""Makes Steward's fonts: Latin and Chinese in one file, so that every widget that asks for one font shows both.

Usage: fonts.py OUTPUT_DIRECTORY (fonts.sh installs what it needs and calls it)

Each font is a Latin font with the Chinese characters of a Noto Sans CJK SC added, on one baseline and in one visual
size. Every feature that shows one text as another is left out: Inter draws
"->" as an arrow, JetBrains Mono draws "!=" as one sign, and a person who decides over a text must see that text.
"""

import bz2
import os
import sys

from fontTools.fontBuilder import FontBuilder
from fontTools.misc.roundTools import otRound
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.transformPen import TransformPen
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.ttLib.scaleUpem import scale_upem

INTER = "/usr/share/fonts/opentype/inter/Inter-%s.otf"
JETBRAINS = "/usr/share/fonts/truetype/jetbrains-mono/JetBrainsMono-%s.ttf"
NOTO = "/usr/share/fonts/opentype/noto/NotoSansCJK-%s.ttc"
NOTO_SC = 2  # the number of Noto Sans CJK SC in the collection
UNIHAN = "/usr/share/unicode/Unihan_OtherMappings.txt.bz2"

EM = 1000
VERSION = "1.000"
STAMP = 3786912000  # 2024-01-01 in seconds since 1904: the files must not change with the day they are made
# The height of a line, alike for all files of a family, so that a bold word moves no line. Inter's own 1.21 is tight
# for Chinese; the room is added above and below alike, and capitals stay in the middle of the line.
LINE = {"Sans": (1010, -280), "Mono": (1020, -300)}
KEPT = ["ccmp", "locl", "kern", "mark", "mkmk"]

COPYRIGHT = {
    "Sans": "Copyright 2020 The Inter Project Authors; Copyright 2014-2021 Adobe. Modified and renamed for Steward.",
    "Mono": "Copyright 2020 The JetBrains Mono Project Authors; Copyright 2014-2021 Adobe. Modified and renamed for Steward.",
}
LICENSE = "This Font Software is licensed under the SIL Open Font License, Version 1.1."


def chinese_characters():
    """The characters taken from the Chinese font, where the Latin font lacks them."""
    wanted = set()
    with bz2.open(UNIHAN, "rt", encoding="utf-8") as lines:
        for line in lines:
            fields = line.split("\t")
            if len(fields) == 3 and fields[1] == "kTGH":  # 通用规范汉字表, 2013
                wanted.add(int(fields[0][2:], 16))
    if len(wanted) != 8105:
        sys.exit("the table of 8,105 characters holds %d in %s" % (len(wanted), UNIHAN))
    for row in range(0xA1, 0xF8):
        for cell in range(0xA1, 0xFF):
            try:
                wanted.add(ord(bytes([row, cell]).decode("gb2312")))
            except UnicodeDecodeError:
                pass
    wanted.update(range(0x3000, 0x3040))  # CJK symbols and punctuation
    wanted.update(range(0xFE30, 0xFE50))  # compatibility forms
    wanted.update(range(0xFF01, 0xFFEF))  # fullwidth and halfwidth forms
    wanted.update(range(0x2460, 0x2500))  # numbers in circles
    return wanted


def latin(path):
    """The Latin font at 1,000 units per em, without hints (Fyne uses none) and without the features that deceive."""
    font = TTFont(path, recalcTimestamp=False)
    scale_upem(font, EM)
    options = Options()
    options.layout_features = KEPT
    options.hinting = False
    options.desubroutinize = True
    options.notdef_outline = True
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6]
    options.drop_tables += ["DSIG", "gasp", "cvt ", "fpgm", "prep"]
    subsetter = Subsetter(options)
    # The private use area of both fonts holds drawings of their own, which say nothing to others.
    subsetter.populate(unicodes=[c for c in font.getBestCmap() if not 0xE000 <= c <= 0xF8FF])
    subsetter.subset(font)
    return font


def drawn(glyphs, name, scale=1.0, shift=0.0):
    """One glyph as a charstring of the new font, and its left side bearing. Widths stand in hmtx alone."""
    pen = T2CharStringPen(None, glyphs)
    glyphs[name].draw(TransformPen(pen, (scale, 0, 0, scale, shift, 0)))
    bounds = BoundsPen(glyphs)
    glyphs[name].draw(bounds)
    left = otRound(bounds.bounds[0] * scale + shift) if bounds.bounds else 0
    return pen.getCharString(optimize=True), left


def make(base, noto, family, style, out, cell=None, scale=1.0):
    """Writes family-style: base plus the Chinese characters. cell is the width of a letter where all are alike."""
    source = TTFont(NOTO % noto, fontNumber=NOTO_SC)
    cmap, order, widths = dict(base.getBestCmap()), list(base.getGlyphOrder()), {}
    programs = {}
    glyphs = base.getGlyphSet()
    for name in order:
        programs[name], left = drawn(glyphs, name)
        widths[name] = (base["hmtx"][name][0], left)

    glyphs, names = source.getGlyphSet(), source.getBestCmap()
    for char in sorted(chinese_characters()):
        if char in cmap or char not in names:
            continue
        width = source["hmtx"][names[char]][0]
        advance = otRound(width * scale)
        if cell:
            advance = cell if advance <= cell else 2 * cell
        name = "uni%04X" % char if char <= 0xFFFF else "u%05X" % char
        programs[name], left = drawn(glyphs, names[char], scale, (advance - width * scale) / 2)
        widths[name] = (advance, left)
        cmap[char] = name
        order.append(name)
    for char, like in ALIKE.items():
        if char not in cmap and like in cmap:
            cmap[char] = cmap[like]
    save(base, family, style, out, order, cmap, widths, programs)


# Marks that the window draws and the sources lack, and the glyph that stands for each.
ALIKE = {0x27E8: 0x2039, 0x27E9: 0x203A, 0x25B8: 0x25B6, 0x25BE: 0x25BC, 0xFFFD: 0x25A1, 0x2715: 0x00D7}


def save(font, family, style, out, order, cmap, widths, programs):
    kind = family.split()[-1]
    post_script = family.replace(" ", "") + "-" + style
    for table in ("glyf", "loca", "CFF ", "VORG"):
        if table in font:
            del font[table]
    font.sfntVersion = "OTTO"
    font["maxp"].tableVersion = 0x00005000
    for field in [f for f in vars(font["maxp"]) if f.startswith("max") or f == "numGlyphs"]:
        delattr(font["maxp"], field)
    font.setGlyphOrder(order)

    builder = FontBuilder(font=font, isTTF=False)
    full = family if style == "Regular" else family + " " + style
    builder.setupCFF(post_script, {"FullName": full, "FamilyName": family, "Weight": style}, programs, {})
    font["hmtx"].metrics = widths
    font["maxp"].numGlyphs = len(order)

    builder.setupCharacterMap(cmap)
    font["name"].names = []
    builder.setupNameTable({
        "copyright": COPYRIGHT[kind],
        "familyName": family, "styleName": style, "uniqueFontIdentifier": VERSION + ";" + post_script,
        "fullName": full, "version": "Version " + VERSION, "psName": post_script,
        "licenseDescription": LICENSE, "licenseInfoURL": "https://openfontlicense.org",
    }, mac=False)
    font["post"].formatType = 3.0  # no glyph names: nothing of ours reads them
    font["post"].extraNames, font["post"].mapping = [], {}

    bold, italic = style == "Bold", style == "Italic"
    font["head"].macStyle = bold | italic << 1
    font["head"].created = font["head"].modified = STAMP
    font["head"].fontRevision = 1.0
    os2 = font["OS/2"]
    os2.usWeightClass = 700 if bold else 400
    os2.fsSelection = (0x20 if bold else 0x40) & ~(0x41 if italic else 0) | italic | os2.fsSelection & 0x80
    os2.achVendID = "NONE"
    ascent, descent = LINE[kind]
    font["hhea"].ascent, font["hhea"].descent, font["hhea"].lineGap = ascent, descent, 0
    os2.sTypoAscender, os2.sTypoDescender, os2.sTypoLineGap = ascent, descent, 0
    os2.usWinAscent, os2.usWinDescent = ascent, -descent
    os2.recalcUnicodeRanges(font)

    path = os.path.join(out, post_script + ".otf")
    font.recalcTimestamp = False
    font.save(path, reorderTables=True)
    print("%8d bytes, %5d characters  %s" % (os.path.getsize(path), len(cmap), path))


def main(out):
    os.makedirs(out, exist_ok=True)
    make(latin(INTER % "Regular"), "Regular", "Steward Sans", "Regular", out)
    make(latin(INTER % "SemiBold"), "Bold", "Steward Sans", "Bold", out)
    make(latin(INTER % "Italic"), "Regular", "Steward Sans", "Italic", out)
    # A Chinese character takes two letters' width; scaled, so that code at 13 and prose at 14 show it alike.
    make(latin(JETBRAINS % "Regular"), "Regular", "Steward Mono", "Regular", out, cell=600, scale=1.08)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
