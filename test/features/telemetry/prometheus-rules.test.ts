/** The alert rules and the dashboard, in a real Prometheus that scrapes a real server. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startServing } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { findFreePort } from '../../support/listening.ts';

const SOURCE = join(import.meta.dirname, '../../../src');
const RULES = join(SOURCE, 'features/telemetry/alerts.yml');
const DASHBOARD = JSON.parse(
  readFileSync(join(SOURCE, 'features/telemetry/dashboard.json'), 'utf8'),
);
const skip = spawnSync('prometheus', ['--version']).error ? 'no prometheus here' : false;
const JOB = 'job="seller-api", instance="shop"';

/** For each alert, series (Prometheus's notation, one value a minute) with which it fires. */
const FIRING: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SellerApiDown: { [`up{${JOB}}`]: '0x60' },
  SellerApiCannotWrite: { store_last_commit_failed: '1x60' },
  SellerApiUnavailable: {
    'http_requests_total{status="503"}': '0+6x60', 'http_requests_total{status="200"}': '0+5x60',
  },
  SellerApiServerErrors: {
    'http_requests_total{status="503"}': '0+2x60', 'http_requests_total{status="200"}': '0+98x60',
  },
  SellerApiDiskFillsUp: { store_disk_free_bytes: '20000000000-20000000x60' },
  SellerApiInodesRunOut: { store_disk_free_inodes: '999x60' },
  SellerApiWalGrows: { store_wal_bytes: '600000000x60' },
  SellerApiOpenFilesRunOut: {
    [`process_open_fds{${JOB}}`]: '81x60', [`process_max_fds{${JOB}}`]: '100x60',
  },
  SellerApiSlow: {
    'event_loop_delay_seconds_bucket{le="0.25"}': '0x60',
    'event_loop_delay_seconds_bucket{le="0.5"}': '0+9x60',
    'event_loop_delay_seconds_bucket{le="+Inf"}': '0+9x60',
  },
  SellerApiBackupFailed: { 'backups_total{outcome="failed"}': '0x30 1x30' },
  SellerApiBackupOld: { backup_newest_timestamp_seconds: '-172801x120' },
  SellerApiCertificateExpires: { tls_certificate_expiry_timestamp_seconds: '1000000x120' },
  SellerApiWebhooksWait: { webhook_oldest_message_timestamp_seconds: '-3600x60' },
  SellerApiRateLimited: { 'http_requests_limited_total{limit="key"}': '0+61x60' },
  SellerApiDatabaseSlow: { store_pool_waiting: '101x60' },
  SellerApiDatabaseTransactionOld: { store_oldest_transaction_seconds: '61x60' },
  SellerApiLogLinesDropped: { log_lines_dropped_total: '0x50 1x10' },
};
/** Series of a server that is well: with these no alert fires. */
const WELL: Readonly<Record<string, string>> = {
  [`up{${JOB}}`]: '1x180', store_last_commit_failed: '0x180',
  'http_requests_total{status="503"}': '0x180', 'http_requests_total{status="200"}': '0+98x180',
  store_disk_free_bytes: '20000000000-1000000x180', store_disk_free_inodes: '5000x180',
  store_wal_bytes: '60000000x180', store_pool_waiting: '1x180',
  store_oldest_transaction_seconds: '1x180', log_lines_dropped_total: '7x180',
  [`process_open_fds{${JOB}}`]: '50x180', [`process_max_fds{${JOB}}`]: '100x180',
  'event_loop_delay_seconds_bucket{le="0.25"}': '0+9x180',
  'event_loop_delay_seconds_bucket{le="+Inf"}': '0+9x180',
  'backups_total{outcome="failed"}': '1x180', backup_newest_timestamp_seconds: '0x180',
  tls_certificate_expiry_timestamp_seconds: '2000000x180',
  webhook_oldest_message_timestamp_seconds: '0+60x180',
  'http_requests_limited_total{limit="key"}': '0+1x180',
};

function listAlerts(): string[] {
  return [...readFileSync(RULES, 'utf8').matchAll(/^ +- alert: (\w+)/gm)]
    .map(([, name = '']) => name);
}

/** Runs `promtool test rules`; JSON is YAML. */
function testRules(t: TestContext, tests: readonly object[]): void {
  const file = join(makeFolder(t), 'tests.yml');
  writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], {
    encoding: 'utf8',
  });
  assert.equal(status, 0, stdout + stderr);
}

const listSeries = (values: Readonly<Record<string, string>>): object[] =>
  Object.entries(values).map(([series, text]) => ({ series, values: text }));

test('each alert fires when it should, and none on a server that is well', { skip }, (t) => {
  const names = listAlerts();
  assert.deepEqual(Object.keys(FIRING), names);
  const count = (name: string, at: string, value: number): object => ({
    expr: `count(ALERTS{alertname="${name}", alertstate="firing"}) or vector(0)`, eval_time: at,
    exp_samples: [{ labels: '{}', value }],
  });
  testRules(t, names.map((name) => ({
    interval: '1m', input_series: listSeries(FIRING[name] ?? {}),
    promql_expr_test: [count(name, /Backup|Cert/.test(name) ? '61m' : '55m', 1)],
  })));
  testRules(t, [{
    interval: '1m', input_series: listSeries(WELL),
    promql_expr_test: names.map((name) => count(name, '3h', 0)),
  }]);
});

test('Prometheus loads the rules, and answers each query of the dashboard', { skip }, async (t) => {
  const folder = makeFolder(t);
  const data = join(folder, 'data');
  const serving = await startServing(t, ['--data', data, '--metrics-port', '0']);
  const [, target = ''] = await serving.waitForNote(/^Metrics on http:\/\/(\S+)\/metrics$/m);
  const ask = await startPrometheus(t, folder, target);
  let up = '';
  while (up !== '1') {
    await wait(100);
    up = (await ask('query', 'up{job="seller-api"}')).result[0]?.value[1] ?? '';
  }
  let rules: { name: string; health: string; lastError?: string; state: string }[];
  do {
    await wait(100);
    rules = (await ask('rules')).groups[0].rules;
  } while (rules.some(({ health }) => health === 'unknown'));
  assert.deepEqual(rules.map(({ name }) => name), listAlerts());
  for (const rule of rules) assert.equal(rule.health, 'ok', `${rule.name}: ${rule.lastError}`);
  const queries: string[] = DASHBOARD.panels.flatMap((panel: { targets: { expr: string }[] }) =>
    panel.targets.map(({ expr }) => expr));
  for (const query of queries) {
    const filled = query.replaceAll('$job', 'seller-api').replaceAll('$__rate_interval', '1m');
    await ask('query', filled);
  }
});

test('alerts and the dashboard use only metrics that exist, and the runbook has each alert', () => {
  const code = globSync('**/*.ts', { cwd: SOURCE })
    .map((path) => readFileSync(join(SOURCE, path), 'utf8')).join('\n');
  const queries = [
    ...DASHBOARD.panels.flatMap((panel: { targets: { expr: string }[] }) =>
      panel.targets.map(({ expr }) => expr)),
    readFileSync(RULES, 'utf8').replaceAll(/^ +(?:summary|runbook):.*$/gm, ''),
  ].join('\n');
  const names = new Set(queries.match(
    /\b(?:http|store|process|event_loop|backups?|tls|webhook|log|search)_\w+/g,
  ));
  assert.ok(names.size > 25);
  for (const name of names) {
    const family = name.replace(/_(?:bucket|sum|count)$/, '');
    assert.ok([name, family].some((one) => code.includes(`'${one}'`)), `no metric ${name}`);
  }
  const headings = readFileSync(join(SOURCE, 'cli/serve/RUNBOOK.md'), 'utf8').match(/^## .*$/gm);
  for (const [, section] of readFileSync(RULES, 'utf8').matchAll(/^ +runbook: (.*)$/gm)) {
    assert.ok(headings?.includes(`## ${section}`), `the runbook has no section ${section}`);
  }
});

/** Returns a function that asks its HTTP API. */
async function startPrometheus(t: TestContext, folder: string, target: string) {
  const port = await findFreePort();
  const file = join(folder, 'prometheus.yml');
  writeFileSync(file, JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' }, rule_files: [RULES],
    scrape_configs: [{ job_name: 'seller-api', static_configs: [{ targets: [target] }] }],
  }));
  const child = spawn('prometheus', [
    `--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const origin = `http://127.0.0.1:${port}`;
  while (!(await fetch(`${origin}/-/ready`).catch(() => undefined))?.ok) await wait(50);
  return async (name: string, query?: string): Promise<any> => {
    const url = new URL(`${origin}/api/v1/${name}`);
    if (query !== undefined) url.searchParams.set('query', query);
    const { status, data, error } = await (await fetch(url)).json() as any;
    assert.equal(status, 'success', `${query}: ${error}`);
    return data;
  };
}
