#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The page without a browser: each asset with its headers, its size, and the HTML by a strict
parser. Run in the build directory."""

import gzip
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.environ.get('top_srcdir', os.path.join(HERE, '..', '..'))
sys.path.insert(0, os.path.join(TOP, 'tests', 'scenario'))

from test_console import check, checks  # noqa: E402
from test_web import Web  # noqa: E402

SOURCES = os.path.join(TOP, 'opensm', 'web', 'page')
BUDGET = 100_000
VOID = {'meta', 'link', 'img', 'input', 'path', 'br'}
TYPES = {'.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8',
         '.js': 'text/javascript; charset=utf-8', '.svg': 'image/svg+xml'}
HEADERS = {'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer',
           'Cache-Control': 'no-cache'}


class Strict(html.parser.HTMLParser):
    """Collects what is wrong: tags that do not match, ids twice, code or style inside."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.needed, self.links, self.wrong = [], [], [], [], []
        self.labelled, self.fields = set(), []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if len(given) != len(attrs):
            self.wrong.append(f'<{tag}>: an attribute twice')
        for name in given:
            if name.startswith('on') or name == 'style':
                self.wrong.append(f'<{tag} {name}>')
        if 'id' in given:
            self.ids.append(given['id'])
        for name in ('aria-controls', 'aria-labelledby', 'for'):
            self.needed += given.get(name, '').split()
        self.links += [given[name] for name in ('src', 'href') if name in given]
        if tag in ('input', 'select', 'canvas') and 'aria-label' not in given and \
                'label' not in self.open:
            self.wrong.append(f'<{tag} id={given.get("id")}> has no label')
        if tag == 'img' and 'alt' not in given:
            self.wrong.append('<img> without alt')
        if tag == 'script' and 'src' not in given:
            self.wrong.append('<script> without src')
        if tag == 'style':
            self.wrong.append('<style>')
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open[-1] != tag:
            self.wrong.append(f'</{tag}> closes {self.open[-1:]} at {self.getpos()}')
        else:
            self.open.pop()

    def finish(self):
        self.close()
        if self.open:
            self.wrong.append(f'not closed: {self.open}')
        self.wrong += [f'id {one} twice' for one in set(self.ids) if self.ids.count(one) > 1]
        self.wrong += [f'no id {one}' for one in self.needed if one not in self.ids]
        return self.wrong


def get(web, path, **headers):
    request = urllib.request.Request(f'http://127.0.0.1:{web.port}{path}', headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def source(name):
    with open(os.path.join(SOURCES, name), 'rb') as file:
        return file.read()


def references(name, content):
    """The assets that this one uses."""
    text = content.decode()
    if name.endswith('.js'):
        return re.findall(r"^(?:import|export) .*?from '\./([^']+)'", text, re.M | re.S) + \
            re.findall(r"^\s+from '\./([^']+)'", text, re.M)
    if name.endswith('.html'):
        return [link[len('/assets/'):] for link in re.findall(r'(?:src|href)="([^"]+)"', text)
                if link.startswith('/assets/')]
    return []


def one_asset(web, name):
    path = '/' if name == 'index.html' else f'/assets/{name}'
    status, headers, packed = get(web, path, **{'Accept-Encoding': 'gzip'})
    check(f'{name} is served, compressed', status == 200 and
          headers['Content-Encoding'] == 'gzip', (status, dict(headers)))
    check(f'{name}: type', headers['Content-Type'] == TYPES[os.path.splitext(name)[1]],
          headers['Content-Type'])
    for header, value in HEADERS.items():
        check(f'{name}: {header}', headers[header] == value, headers[header])
    policy = headers['Content-Security-Policy'] or ''
    check(f'{name}: policy', "default-src 'none'" in policy and "script-src 'self'" in policy and
          'unsafe' not in policy, policy)
    check(f'{name} is as in the sources', gzip.decompress(packed) == source(name))
    status, headers, plain = get(web, path)
    check(f'{name} for a client without gzip', status == 200 and
          not headers['Content-Encoding'] and plain == source(name), status)
    status, _, body = get(web, path, **{'If-None-Match': headers['ETag']})
    check(f'{name} is not sent again', status == 304 and not body, status)
    status, _, _ = get(web, path, **{'If-None-Match': '"another"'})
    check(f'{name} is sent for another ETag', status == 200, status)
    return len(packed)


def assets():
    with Web() as web:
        seen, todo, octets = set(), ['index.html'], 0
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                octets += one_asset(web, name)
                todo += references(name, source(name))
        kept = {name for name in os.listdir(SOURCES)
                if os.path.splitext(name)[1] in TYPES}
        check('each asset is used', kept == seen, kept ^ seen)
        check('the budget', octets < BUDGET, octets)
        print(f'{len(seen)} assets, {octets} octets compressed')
        for path in ('/assets/', '/assets/nothing', '/assets/../page.c', '/assets/page.c',
                     '/assets/%2e%2e/page.c'):
            check(f'{path} is not there', get(web, path)[0] == 404, get(web, path)[0])
        check('HEAD', head(web) == 200)


def head(web):
    request = urllib.request.Request(f'http://127.0.0.1:{web.port}/', method='HEAD')
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.status


def off():
    with Web('page off') as web:
        check('a page that is off', (get(web, '/')[0], get(web, '/assets/app.js')[0]) == (404, 404))


def markup():
    parser = Strict()
    text = source('index.html').decode()
    parser.feed(text)
    wrong = parser.finish()
    check('the HTML is well-formed', not wrong, wrong)
    check('nothing from elsewhere', not [link for link in parser.links
                                         if not link.startswith(('/', '#'))], parser.links)
    used = set()
    for name in os.listdir(SOURCES):
        if name.endswith('.js'):
            used |= set(re.findall(r"byId\('([^']+)'\)", source(name).decode()))
    check('each id that modules use is there', used <= set(parser.ids), used - set(parser.ids))


def modules():
    for name in sorted(os.listdir(SOURCES)):
        if not name.endswith('.js'):
            continue
        text = source(name).decode()
        check(f'{name}: text never becomes HTML', not re.search(
            r'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function', text))
        check(f'{name}: nothing from elsewhere', not re.search(
            r'https?://(?!www\.w3\.org/2000/svg)', text))
    css = source('style.css').decode()
    check('style.css: nothing from elsewhere', 'url(' not in css and '@import' not in css)


def alone():
    """modules.mjs, if there is node: as modules they need a package.json beside them."""
    if not shutil.which('node'):
        print('SKIP modules.mjs: node is missing, from the package nodejs')
        return
    with tempfile.TemporaryDirectory(prefix='page.') as room:
        for name in os.listdir(SOURCES):
            if name.endswith('.js'):
                shutil.copy(os.path.join(SOURCES, name), room)
        with open(os.path.join(room, 'package.json'), 'w') as file:
            file.write('{"type": "module"}\n')
        done = subprocess.run(['node', os.path.join(HERE, 'modules.mjs'), room], text=True,
                              capture_output=True)
    check('modules.mjs', done.returncode == 0, done.stdout + done.stderr)


def main():
    assets()
    alone()
    off()
    markup()
    modules()
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
