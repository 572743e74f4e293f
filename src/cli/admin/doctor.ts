/**
 * `doctor`: checks the data folder, one database file or a PostgreSQL database, and prints findings
 * with advice. It changes nothing and can run beside a server. Exit status 1 if anything is damaged
 * or at risk.
 */
import { getEngine } from '../../store/open-store.ts';
import { checkDatabaseFile, checkDataFolder } from '../../store/sqlite/check/data-folder.ts';
import type { Check, Finding } from '../../store/sql/check/finding.ts';
import { type Command, CommandFailure, type Input } from '../command.ts';
import { checkNodeRelease } from '../node-runtime.ts';
import { formatCounted } from '../format.ts';

interface CheckResult extends Pick<Check, 'name' | 'subject'> {
  readonly status: 'ok' | Finding['level'];
  readonly findings: readonly Finding[];
}

export const doctor: Command = {
  summary: 'Checks the data folder or the database for damage and risks, even while servers run.',
  flags: {
    file: { value: 'FILE', help: 'check only this database, to which no process may be writing' },
  },
  async run(input) {
    const { flags, location, isJson, out } = input;
    const { file } = flags;
    const now = Date.now();
    const checks = file !== undefined ? checkDatabaseFile(file)
      : 'folder' in location ? checkDataFolder(location.folder, now)
        : getEngine().check(location);
    const node = {
      name: 'node', subject: `the release of Node, ${process.version}`,
      find: () => [...checkNodeRelease(process.version, now)],
    };
    const results = [...await runChecks(input, checks), ...await runChecks(input, [node])];
    const { status, faults, warnings } = assess(results.flatMap(({ findings }) => findings));
    if (isJson) out(JSON.stringify({ status, faults, warnings, checks: results }));
    if (faults > 0) throw new CommandFailure(`Doctor found ${formatCounted(faults, 'fault')}.`);
    if (isJson) return;
    out(warnings > 0 ? `No faults, ${formatCounted(warnings, 'warning')}.` : 'No problems found.');
  },
};

/** Runs the checks and prints the findings of each as soon as it is done. */
async function runChecks(
  { isJson, out }: Input, checks: Iterable<Check> | AsyncIterable<Check>,
): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  for await (const check of checks) {
    const { name, subject } = check;
    const clear = announce(subject);
    const findings = await check.find();
    clear();
    const { status } = assess(findings);
    const result = { name, subject, status, findings };
    if (!isJson) out(format(result));
    results.push(result);
  }
  return results;
}

function assess(findings: readonly Finding[]) {
  const count = (level: Finding['level']): number =>
    findings.filter((finding) => finding.level === level).length;
  const [faults, warnings] = [count('fault'), count('warning')];
  const status: CheckResult['status'] = faults > 0 ? 'fault' : warnings > 0 ? 'warning' : 'ok';
  return { status, faults, warnings };
}

function format({ name, subject, status, findings }: CheckResult): string {
  const lines = findings.map(({ level, what, advice }) => `  ${level}: ${what}\n    ${advice}`);
  return [`${status.padEnd(8)} ${name.padEnd(13)} ${subject}`, ...lines].join('\n');
}

/** Shows the current check on a terminal, until the returned function is called. */
function announce(subject: string): () => void {
  const { stderr } = process;
  if (!stderr.isTTY) return () => {};
  stderr.write(`Checking ${subject} ...`);
  return () => void stderr.write('\r\x1b[K');
}
