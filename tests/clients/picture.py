#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""picture.py FONT SCREEN PNG: draws what tmux has captured of a screen.

FONT is lib/fonts/font_8x16.c of the kernel's source, or only its numbers, as scripts/guest-image
leaves them; its glyphs are in the order of code page 437. SCREEN is what "tmux capture-pane -e -p"
prints. Of a character that the font lacks, dots of braille and superscripts are drawn, round
corners become square, and any other one is a question mark.
"""
import re
import struct
import sys
import zlib

WIDTH, HEIGHT = 8, 16
INK, PAPER = (204, 204, 204), (0, 0, 0)
BASIC = [(0, 0, 0), (205, 49, 49), (13, 188, 121), (229, 229, 16), (36, 114, 200),
         (188, 63, 188), (17, 168, 205), (204, 204, 204), (102, 102, 102), (241, 76, 76),
         (35, 209, 139), (245, 245, 67), (59, 142, 234), (214, 112, 214), (41, 184, 219),
         (255, 255, 255)]
# What the font has under codes that are control characters elsewhere, and what is close enough.
SAME = dict(zip('↑↓→←▲▼►◄•', b'\x18\x19\x1a\x1b\x1e\x1f\x10\x11\x07')) | dict(
    zip('╭╮╯╰', '┌┐┘└'.encode('cp437'))) | dict(zip('⁰¹³⁴⁵⁶⁷⁸⁹', b'013456789')) | {'↵': 0x1b}


def read_font(path):
    """16 bytes per glyph."""
    with open(path, encoding='latin-1') as file:
        rows = re.findall(r'^\t?0x([0-9a-f]{2}),', file.read(), re.MULTILINE)
    if len(rows) != 256 * HEIGHT:
        raise ValueError(f'{path}: not a font of 8x16')
    return bytes(int(row, 16) for row in rows)


def braille(dots):
    """Dots 1-3 and 7 are the left column from above, 4-6 and 8 the right one."""
    rows = bytearray(HEIGHT)
    for bit in range(8):
        if dots >> bit & 1:
            row, right = (3, bit - 6) if bit > 5 else (bit % 3, bit // 3)
            for y in (4 * row + 1, 4 * row + 2):
                rows[y] |= 0x06 if right else 0x60
    return bytes(rows)


def glyph(font, char):
    """Its 16 rows."""
    if 0x2800 <= ord(char) <= 0x28ff:
        return braille(ord(char) - 0x2800)
    if char == '■':
        return bytes(4) + b'\x7e' * 8 + bytes(4)
    # Eighths of a block, from the left.
    if '▉' <= char <= '▏':
        return bytes([0xff << (ord(char) - 0x2588) & 0xff]) * HEIGHT
    code = SAME.get(char)
    if code is None:
        code = char.encode('cp437', 'replace')[0]
    return font[code * HEIGHT:(code + 1) * HEIGHT]


def colour(number):
    """Of the 256 of a terminal."""
    if number < 16:
        return BASIC[number]
    if number > 231:
        return (8 + 10 * (number - 232),) * 3
    level = (0, 95, 135, 175, 215, 255)
    number -= 16
    return level[number // 36], level[number // 6 % 6], level[number % 6]


class Pen:
    """Colours as escape sequences have left them."""

    def __init__(self):
        self.ink = self.paper = None
        self.bold = self.reverse = False

    def change(self, codes):
        """Takes the numbers of a sequence that ends with m."""
        codes = [int(code or 0) for code in re.split('[;:]', codes)]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code in (1, 22):
                self.bold = code == 1
            elif code in (7, 27):
                self.reverse = code == 7
            elif code in (38, 48):
                self.put(code == 48, colour(codes[1]) if codes[0] == 5 else tuple(codes[1:4]))
                del codes[:2 if codes[0] == 5 else 4]
            elif code in (39, 49):
                self.put(code == 49, None)
            elif 30 <= code % 60 <= 47 and code <= 107:
                self.put(code % 60 >= 40, BASIC[code % 10 + (8 if code >= 90 else 0)])

    def put(self, is_paper, value):
        if is_paper:
            self.paper = value
        else:
            self.ink = value

    def pair(self):
        ink, paper = self.ink or INK, self.paper or PAPER
        if self.bold and ink in BASIC[:8]:
            ink = BASIC[BASIC.index(ink) + 8]
        return (paper, ink) if self.reverse else (ink, paper)


def cells(line, pen):
    """Characters of a line with their colours."""
    for part in re.finditer(r'\x1b\[([\d;:]*)m|\x1b\[[^a-zA-Z]*[a-zA-Z]|[\x0e\x0f]|(.)', line):
        if part[1] is not None:
            pen.change(part[1])
        elif part[2]:
            yield part[2], pen.pair()


def draw(font, text):
    """Rows of indices, and the colours that they mean."""
    pen, palette, rows = Pen(), {}, []
    lines = [list(cells(line, pen)) for line in text.rstrip('\n').split('\n')]
    columns = max(map(len, lines))
    for line in lines:
        line += [(' ', (INK, PAPER))] * (columns - len(line))
        glyphs = [(glyph(font, char), [palette.setdefault(one, len(palette)) for one in pair])
                  for char, pair in line]
        for y in range(HEIGHT):
            rows.append(bytes(pair[0] if bits[y] >> (WIDTH - 1 - x) & 1 else pair[1]
                              for bits, pair in glyphs for x in range(WIDTH)))
    if len(palette) > 256:
        raise ValueError(f'{len(palette)} colours')
    return rows, bytes(part for one in palette for part in one)


def png(rows, palette):
    """The file's bytes: 8 bits per pixel."""
    def chunk(kind, data):
        return (struct.pack('>I', len(data)) + kind + data +
                struct.pack('>I', zlib.crc32(kind + data)))
    head = struct.pack('>IIBBBBB', len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'PLTE', palette) +
            chunk(b'IDAT', zlib.compress(b''.join(b'\0' + row for row in rows), 9)) +
            chunk(b'IEND', b''))


def main(args):
    if len(args) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(args[1], encoding='utf-8') as file:
        data = png(*draw(read_font(args[0]), file.read()))
    with open(args[2], 'wb') as file:
        file.write(data)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
