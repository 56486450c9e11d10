#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""serve.py PORT VGPUCTL: OpenMetrics over HTTP, whose parser in Prometheus is the strict one."""
import http.server
import subprocess
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = subprocess.run([sys.argv[2], 'metrics', '--openmetrics'], capture_output=True).stdout
        self.send_response(200)
        self.send_header('Content-Type', 'application/openmetrics-text; version=1.0.0')
        self.end_headers()
        self.wfile.write(text)


http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
