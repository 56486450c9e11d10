#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""judge.py PROMETHEUS DASHBOARD: asks what a user of the dashboard would.

Two vGPUs work all the time; Prometheus has been started a moment ago. Prints lines of "ok" or
"bad", a name and a text, with tabs in between; the last one is "end".
"""
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

SERVER, DASHBOARD = sys.argv[1:]
INTERVAL = '20s'
START = 600         # seconds until what must come is given up, on a busy machine


def ask(path, **params):
    url = f'{SERVER}/api/v1/{path}?{urllib.parse.urlencode(params)}'
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return json.load(answer)['data']
    except urllib.error.HTTPError as error:
        raise ValueError(error.read().decode()) from error


def vector(query):
    return ask('query', query=query)['result']


def number(query):
    samples = vector(query)
    assert len(samples) == 1, samples
    return float(samples[0]['value'][1])


def tell(name, judge, *args):
    try:
        text, right = judge(*args)
    except (AssertionError, KeyError, ValueError, OSError) as error:
        text, right = repr(error), False
    print('ok' if right else 'bad', name, ' '.join(str(text).split()), sep='\t', flush=True)
    return right


def until(query, seconds):
    """Waits for an answer that is not empty."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if vector(query):
                return 'there', True
        except (OSError, ValueError):
            pass  # not up yet
        time.sleep(1)
    return f'{query}: nothing in {seconds} s', False


def soon(judge):
    """Judges again until it is right: a busy machine may scrape late."""
    end = time.monotonic() + START
    while True:
        text, right = judge()
        if right or time.monotonic() > end:
            return text, right
        time.sleep(2)


def expand(text):
    """The variables of a dashboard whose user has chosen everything."""
    text = text.replace('$__rate_interval', INTERVAL)
    return re.sub(r'\$(node|gpu|engine)\b', '.*', text)


def answered(query):
    samples = vector(expand(query))
    good = samples and all(sample['value'][1] != 'NaN' for sample in samples)
    return f'{query}: {len(samples)}', good


def legend(target):
    """Every label that a legend names is there."""
    wanted = re.findall(r'\{\{(\w+)\}\}', target['legendFormat'])
    lost = [key for sample in vector(expand(target['expr'])) for key in wanted
            if key not in sample['metric']]
    return f'{target["expr"]}: {lost}', not lost


def values_of(variable):
    metric, label = re.fullmatch(r'label_values\((.*), (\w+)\)', variable['definition']).groups()
    found = {sample['metric'][label] for sample in vector(expand(metric))}
    return found, bool(found)


def engine_is_sum():
    """An engine's busy time is that of its vGPUs, figure by figure; it hardly idles."""
    engine = number('max(vgpu_engine_busy_seconds_total{job="node",engine="gr"})')
    at = vector('vgpu_engine_busy_seconds_total{job="node",engine="gr"} - on (gpu, engine) sum by '
                '(gpu, engine) (vgpu_vgpu_engine_busy_seconds_total{job="node"})')
    return (engine, at), engine > 1 and at and all(abs(float(s['value'][1])) < 1e-6 for s in at)


def rate_of_engine():
    rate = number('sum(rate(vgpu_engine_busy_seconds_total{job="node",engine="gr"}'
                  f'[{INTERVAL}]))')
    return rate, 0.3 < rate < 1.1


def shares():
    got = {name: [float(sample['value'][1])
                  for sample in vector(f'vgpu_vgpu_{name}{{job="node",uuid=~".*01"}}')]
           for name in ('guarantee_ratio', 'cap_ratio', 'weight', 'started')}
    return got, got == {'guarantee_ratio': [0.25], 'cap_ratio': [0.5], 'weight': [3],
                        'started': [1]}


def no_sample_lost():
    """Both formats have the same samples."""
    counts = {job: number(f'count({{job="{job}",__name__=~"vgpu_.*"}})')
              for job in ('node', 'openmetrics')}
    return counts, len(set(counts.values())) == 1


def main():
    with open(DASHBOARD, encoding='utf-8') as file:
        dashboard = json.load(file)
    if not tell('prometheus_reads_textfile', until, 'vgpu_up{job="node"} == 1', START):
        return
    tell('prometheus_reads_openmetrics', until, 'vgpu_up{job="openmetrics"} == 1', START)
    tell('textfile_is_good', until, 'node_textfile_scrape_error == 0', START)
    tell('rates_are_there', until, 'count_over_time(vgpu_up{job="node"}[20s]) >= 8', START)
    tell('types_of_metrics', lambda: (
        kinds := {name: entry[0]['type'] for name, entry in ask('metadata').items()
                  if name.startswith('vgpu_')},
        kinds.get('vgpu_vgpu_faults_total') == 'counter' and
        kinds.get('vgpu_vgpu_weight') == 'gauge'))
    tell('both_formats_have_the_same', soon, no_sample_lost)
    tell('engine_is_the_sum_of_its_vgpus', engine_is_sum)
    tell('engine_is_busy', soon, rate_of_engine)
    tell('guarantee', shares)
    for variable in dashboard['templating']['list']:
        if variable['type'] == 'query':
            tell(f'variable_{variable["name"]}', values_of, variable)
    for panel in dashboard['panels']:
        for target in panel['targets']:
            name = re.sub(r'\W+', '_', panel['title']) + '_' + target['refId']
            tell(f'panel_{name}', answered, target['expr'])
            tell(f'legend_{name}', legend, target)
    print('ok\tend')


main()
