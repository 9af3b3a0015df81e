"""Draws Steward's icons: python3 assets/icons.py assets/icons

Every icon is drawn here from lines, arcs and boxes on a grid of 24, with a stroke of 1.5 and round ends. Fyne recolours
what is filled and leaves strokes as they are, so each stroke is written as the filled outline of itself. All outlines
turn the same way and holes the other way, so that overlapping strokes stay filled (the non-zero rule).
"""

import math
import os
import sys

HALF = 0.75  # half the stroke


def n(*values):
    return " ".join(("%.2f" % v).rstrip("0").rstrip(".") for v in values)


def line(x1, y1, x2, y2):
    """One stroke with round ends."""
    length = math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) / length * HALF, (y2 - y1) / length * HALF
    return "M%sL%sA.75 .75 0 0 1 %sL%sA.75 .75 0 0 1 %sZ" % (
        n(x1 + dy, y1 - dx), n(x2 + dy, y2 - dx), n(x2 - dy, y2 + dx), n(x1 - dy, y1 + dx), n(x1 + dy, y1 - dx))


def lines(*points, closed=False):
    """Strokes from point to point."""
    if closed:
        points += (points[0],)
    return "".join(line(*a, *b) for a, b in zip(points, points[1:]))


def at(cx, cy, r, degrees):
    return cx + r * math.cos(math.radians(degrees)), cy + r * math.sin(math.radians(degrees))


def arc(cx, cy, r, start, end):
    """Part of a circle, clockwise from start to end in degrees; 0 points right, 90 down."""
    big = 1 if end - start > 180 else 0
    return "M%sA%s 0 %d 1 %sA.75 .75 0 0 1 %sA%s 0 %d 0 %sA.75 .75 0 0 1 %sZ" % (
        n(*at(cx, cy, r + HALF, start)), n(r + HALF, r + HALF), big, n(*at(cx, cy, r + HALF, end)),
        n(*at(cx, cy, r - HALF, end)), n(r - HALF, r - HALF), big, n(*at(cx, cy, r - HALF, start)),
        n(*at(cx, cy, r + HALF, start)))


def disc(cx, cy, r, turn=1):
    return "M%sA%s 0 0 %d %sA%s 0 0 %d %sZ" % (
        n(cx - r, cy), n(r, r), turn, n(cx + r, cy), n(r, r), turn, n(cx - r, cy))


def circle(cx, cy, r):
    return disc(cx, cy, r + HALF) + disc(cx, cy, r - HALF, 0)


def box(x, y, w, h, r, turn=1):
    """A filled box with round corners."""
    corner = "A%s 0 0 %d " % (n(r, r), turn)
    stops = [(x + r, y), (x + w - r, y), (x + w, y + r), (x + w, y + h - r),
             (x + w - r, y + h), (x + r, y + h), (x, y + h - r), (x, y + r)]
    if not turn:
        stops = [stops[0]] + stops[:0:-1]
        return "M%s" % n(*stops[0]) + "".join(
            (corner if i % 2 == 0 else "L") + n(*p) for i, p in enumerate(stops[1:])) + "L%sZ" % n(*stops[0])
    return "M%s" % n(*stops[0]) + "".join(
        ("L" if i % 2 == 0 else corner) + n(*p) for i, p in enumerate(stops[1:])) + corner + n(*stops[0]) + "Z"


def frame(x, y, w, h, r):
    """The stroke around a box with round corners."""
    return box(x - HALF, y - HALF, w + 2 * HALF, h + 2 * HALF, r + HALF) + \
        box(x + HALF, y + HALF, w - 2 * HALF, h - 2 * HALF, max(r - HALF, 0.01), 0)


def dot(x, y, r=1.1):
    return disc(x, y, r)


def polygon(*points):
    return "M" + "L".join(n(*p) for p in points) + "Z"


EYE = arc(12, 17.5, 9.6, 213, 327) + arc(12, 6.5, 9.6, 33, 147)
PAGE = lines((13.5, 3.5), (6.5, 3.5)) + arc(6.5, 5.5, 2, 180, 270) + line(4.5, 5.5, 4.5, 18.5) + \
    arc(6.5, 18.5, 2, 90, 180) + line(6.5, 20.5, 17.5, 20.5) + arc(17.5, 18.5, 2, 0, 90) + \
    lines((19.5, 18.5), (19.5, 9.5), (13.5, 3.5)) + lines((13.5, 3.5), (13.5, 9.5), (19.5, 9.5))
BODY = frame(5, 10.5, 14, 10, 2) + dot(12, 15.5)
TRAY = lines((4, 15), (4, 18)) + arc(6, 18, 2, 90, 180) + line(6, 20, 18, 20) + arc(18, 18, 2, 0, 90) + line(20, 18, 20, 15)

ICONS = {
    "archive": frame(3.5, 4.5, 17, 4.5, 1) + lines((5, 9), (5, 18)) + arc(7, 18, 2, 90, 180) + line(7, 20, 17, 20) +
        arc(17, 18, 2, 0, 90) + line(19, 18, 19, 9) + line(10, 13, 14, 13),
    "at": circle(12, 12, 3.5) + line(15.5, 8.5, 15.5, 13) + arc(17.75, 13, 2.25, 0, 180) + line(20, 13, 20, 12) +
        arc(12, 12, 8, 60, 360),
    "attach": arc(15, 8.5, 4, 225, 405) + line(12.17, 5.67, 4.6, 13.25) + arc(8.14, 16.79, 5, 45, 225) +
        line(11.67, 20.32, 19, 13) + line(17.83, 11.33, 10.4, 18.75) + arc(8.98, 17.34, 2, 45, 225) +
        line(7.57, 15.92, 14, 9.5),
    "audit": frame(5, 4.5, 14, 16, 2) + frame(9, 2.75, 6, 3.5, 1) + lines((8.5, 13.5), (11, 16), (15.5, 11)),
    "branch": circle(6.5, 5.5, 2) + circle(6.5, 18.5, 2) + circle(17.5, 7.5, 2) + line(6.5, 7.5, 6.5, 16.5) +
        arc(13.5, 9.5, 4, 0, 90) + line(13.5, 13.5, 10.5, 13.5) +
        arc(10.5, 17.5, 4, 180, 270),
    "chat": arc(6, 6.5, 2.5, 180, 270) + line(6, 4, 18, 4) + arc(18, 6.5, 2.5, 270, 360) + line(20.5, 6.5, 20.5, 14) +
        arc(18, 14, 2.5, 0, 90) + lines((18, 16.5), (10.5, 16.5), (6.5, 20.5), (6.5, 16.5), (6, 16.5)) +
        arc(6, 14, 2.5, 90, 180) + line(3.5, 14, 3.5, 6.5),
    "check": lines((4.5, 12.5), (9.5, 17.5), (19.5, 7)),
    "chevron-down": lines((6.5, 9.5), (12, 15), (17.5, 9.5)),
    "chevron-left": lines((14.5, 6.5), (9, 12), (14.5, 17.5)),
    "chevron-right": lines((9.5, 6.5), (15, 12), (9.5, 17.5)),
    "chevron-up": lines((6.5, 14.5), (12, 9), (17.5, 14.5)),
    "clock": circle(12, 12, 8.5) + lines((12, 7), (12, 12), (15.5, 14)),
    "copy": frame(8.5, 8.5, 12, 12, 2) + lines((15.5, 8.5), (15.5, 5.5)) + arc(13.5, 5.5, 2, 270, 360) +
        line(13.5, 3.5, 5.5, 3.5) + arc(5.5, 5.5, 2, 180, 270) + line(3.5, 5.5, 3.5, 13.5) +
        arc(5.5, 13.5, 2, 90, 180) + line(5.5, 15.5, 8.5, 15.5),
    "cross": line(6, 6, 18, 18) + line(18, 6, 6, 18),
    "download": TRAY + line(12, 4, 12, 15.5) + lines((7.5, 11), (12, 15.5), (16.5, 11)),
    "edit": lines((4, 20), (5, 15.5), (16, 4.5), (19.5, 8), (8.5, 19), closed=True) + line(13.5, 7, 17, 10.5),
    "external": lines((13.5, 4), (20, 4), (20, 10.5)) + line(20, 4, 11.5, 12.5) + lines((10, 5), (6, 5)) +
        arc(6, 7, 2, 180, 270) + line(4, 7, 4, 18) + arc(6, 18, 2, 90, 180) + line(6, 20, 17, 20) +
        arc(17, 18, 2, 0, 90) + line(19, 18, 19, 14),
    "eye": EYE + circle(12, 12, 2.75),
    "eye-off": EYE + circle(12, 12, 2.75) + line(4.5, 4.5, 19.5, 19.5),
    "file": PAGE,
    "filter": lines((4, 5), (20, 5), (14, 12.5), (14, 18), (10, 20), (10, 12.5), closed=True),
    "folder": arc(5.5, 7, 2, 180, 270) + lines((5.5, 5), (9.5, 5), (12, 7.5), (18.5, 7.5)) + arc(18.5, 9.5, 2, 270, 360) +
        line(20.5, 9.5, 20.5, 17) + arc(18.5, 17, 2, 0, 90) + line(18.5, 19, 5.5, 19) + arc(5.5, 17, 2, 90, 180) +
        line(3.5, 17, 3.5, 7),
    "globe": circle(12, 12, 8.5) + line(3.5, 12, 20.5, 12) + arc(4.5, 12, 11.3, -48.5, 48.5) + arc(19.5, 12, 11.3, 131.5, 228.5),
    "image": frame(3.5, 4.5, 17, 15, 2) + circle(8.75, 9.5, 1.5) + lines((4, 17.5), (9, 13), (12, 15.5), (16, 11.5), (20, 15.5)),
    "info": circle(12, 12, 8.5) + line(12, 11.5, 12, 16) + dot(12, 8.2, 1),
    "key": circle(8, 16, 4) + line(10.9, 13.1, 19.5, 4.5) + line(15.5, 8.5, 18.5, 11.5) + line(18.5, 5.5, 20.5, 7.5),
    "link": arc(8.2, 15.8, 4.2, 45, 225) + line(5.23, 12.83, 7.5, 10.5) + line(11.17, 18.77, 13.5, 16.5) +
        arc(15.8, 8.2, 4.2, 225, 405) + line(12.83, 5.23, 10.5, 7.5) + line(18.77, 11.17, 16.5, 13.5) + line(9.5, 14.5, 14.5, 9.5),
    "lock": BODY + line(8, 10.5, 8, 8) + arc(12, 8, 4, 180, 360) + line(16, 8, 16, 10.5),
    "menu": line(4, 6.5, 20, 6.5) + line(4, 12, 20, 12) + line(4, 17.5, 20, 17.5),
    "minus": line(5, 12, 19, 12),
    "model": lines((12, 3.5), (19.4, 7.75), (19.4, 16.25), (12, 20.5), (4.6, 16.25), (4.6, 7.75), closed=True) +
        circle(12, 12, 3),
    "more": dot(5.5, 12, 1.4) + dot(12, 12, 1.4) + dot(18.5, 12, 1.4),
    "pin": lines((9, 3.75), (15, 3.75)) + lines((10, 3.75), (9.5, 10), (6.5, 14), (17.5, 14), (14.5, 10), (14, 3.75)) +
        line(12, 14, 12, 20.5),
    "play": lines((7.5, 4.5), (19, 12), (7.5, 19.5), closed=True),
    "plus": line(12, 5, 12, 19) + line(5, 12, 19, 12),
    "question": circle(12, 12, 8.5) + arc(12, 9.75, 2.5, 180, 395) + lines((14.05, 11.18), (12, 12.7), (12, 13.4)) + dot(12, 16.3, 1),
    "refresh": arc(12, 12, 8, 200, 330) + lines((19.5, 4.25), (19.2, 8.4), (15, 8.1)) + arc(12, 12, 8, 20, 150) +
        lines((4.5, 19.75), (4.8, 15.6), (9, 15.9)),
    "retry": arc(12, 12.5, 7.75, 225, 500) + lines((6.4, 2.9), (6.4, 7.1), (10.6, 7.1)),
    "search": circle(10.75, 10.75, 6.5) + line(15.5, 15.5, 20.25, 20.25),
    "send": line(12, 19.5, 12, 5) + lines((6, 11), (12, 5), (18, 11)),
    "servers": frame(3.75, 4, 16.5, 6.5, 1.75) + frame(3.75, 13.5, 16.5, 6.5, 1.75) + dot(7.5, 7.25) + dot(7.5, 16.75) +
        line(11.5, 7.25, 16.5, 7.25) + line(11.5, 16.75, 16.5, 16.75),
    "settings": line(4, 7, 7.25, 7) + circle(9.5, 7, 2.25) + line(11.75, 7, 20, 7) + line(4, 17, 12.25, 17) +
        circle(14.5, 17, 2.25) + line(16.75, 17, 20, 17),
    "slash": line(15.5, 4, 8.5, 20),
    "stop": box(6, 6, 12, 12, 2),
    "tool": arc(15.5, 8.5, 5, -20, 290) + lines((20.2, 6.79), (16.6, 9.4), (14.6, 7.4), (17.21, 3.8)) +
        line(10.78, 10.14, 4.5, 16.4) + line(13.86, 13.22, 7.6, 19.5) + arc(6.05, 17.95, 2.19, 45, 225),
    "trash": line(4, 6.5, 20, 6.5) + lines((9, 6.5), (9, 5)) + arc(10.5, 5, 1.5, 180, 270) + line(10.5, 3.5, 13.5, 3.5) +
        arc(13.5, 5, 1.5, 270, 360) + line(15, 5, 15, 6.5) + line(6, 6.5, 6.75, 18.6) + arc(8.75, 18.5, 2, 90, 180) +
        line(8.75, 20.5, 15.25, 20.5) + arc(15.25, 18.5, 2, 0, 90) + line(17.25, 18.6, 18, 6.5) +
        line(10.25, 10.5, 10.25, 16.5) + line(13.75, 10.5, 13.75, 16.5),
    "undo": lines((8.5, 4.5), (4, 9), (8.5, 13.5)) + line(4, 9, 14.75, 9) + arc(14.75, 14.25, 5.25, 270, 450) + line(14.75, 19.5, 9, 19.5),
    "unlock": BODY + line(8, 10.5, 8, 7.5) + arc(12, 7.5, 4, 180, 340),
    "upload": TRAY + line(12, 4.5, 12, 16) + lines((7.5, 9), (12, 4.5), (16.5, 9)),
    "user": circle(12, 8, 4) + arc(12, 20.5, 7.5, 180, 360),
    "warning": lines((12, 4), (20.75, 19.5), (3.25, 19.5), closed=True) + line(12, 10, 12, 14) + dot(12, 16.6, 1),
    "wire": lines((7.5, 4.5), (3.5, 8.5), (7.5, 12.5)) + line(3.5, 8.5, 15.5, 8.5) + lines((16.5, 11.5), (20.5, 15.5), (16.5, 19.5)) +
        line(8.5, 15.5, 20.5, 15.5),
}

STAR = [at(12, 12.4, r, -90 + 36 * i) for i, r in enumerate([8.6, 3.9] * 5)]
ICONS["star"] = lines(*STAR, closed=True)
ICONS["star-filled"] = polygon(*STAR) + lines(*STAR, closed=True)

# What Fyne's own check boxes and radio buttons are drawn from. Fyne gives an empty box the colour of an input's border,
# which is too faint for a box that is all border; a stroke keeps its grey, seen at 3 : 1 on every ground, light and dark.
RIM = 'fill="none" stroke="#7E848C" stroke-width="1.5"'
TICK = polygon((7, 12.6), (10.4, 16), (17, 9.2), (15.9, 8.1), (10.4, 13.8), (8.1, 11.5))
CONTROLS = {
    "box": '<rect x="3.75" y="3.75" width="16.5" height="16.5" rx="3.5" ry="3.5" %s/>' % RIM,
    "box-fill": box(4, 4, 16, 16, 3.25),
    "box-checked": box(3, 3, 18, 18, 4) + TICK,
    "box-partial": box(3, 3, 18, 18, 4) + box(7, 11.2, 10, 1.6, 0.8, 0),
    "ring": '<circle cx="12" cy="12" r="9.25" %s/>' % RIM,
}


def write(out, drawings):
    os.makedirs(out, exist_ok=True)
    for name, drawing in sorted(drawings.items()):
        if not drawing.startswith("<"):
            drawing = '<path fill="#000000" d="%s"/>' % drawing
        with open(os.path.join(out, name + ".svg"), "w") as file:
            file.write('<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">'
                       '%s</svg>\n' % drawing)


def main(out):
    write(out, ICONS)
    write(os.path.join(out, "controls"), CONTROLS)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
