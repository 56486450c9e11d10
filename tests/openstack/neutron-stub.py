#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""neutron-stub.py PORT: what Nova asks Neutron of servers without networks.

Nova asks for the ports and security groups of each server that it shows or deletes, even of one
that was created with "networks": "none". Here there are none of any kind.
"""
import http.server
import json
import re
import sys


class Stub(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        match = re.match(r'/v2\.0/([a-z-]+)(?:\.json)?(?:\?|$)', self.path)
        body = {match[1].replace('-', '_'): []} if match else {'error': 'there is nothing here'}
        body = json.dumps(body).encode()
        self.send_response(200 if match else 404)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), Stub).serve_forever()
