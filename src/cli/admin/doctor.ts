/**
 * `doctor`: checks the data folder, or one database file, and says what to do. It works while the
 * server serves, and changes nothing. Exit status 1 where anything is damaged or in danger.
 */
import { checkDatabaseFile, checkDataFolder } from '../../store/sqlite/check/data-folder.ts';
import type { Check, Finding } from '../../store/sqlite/check/finding.ts';
import { type Command, CommandFailure, type Input } from '../command.ts';
import { checkNodeRelease } from './node-release.ts';
import { formatCounted } from '../transfer/progress-line.ts';

/** A check that was made. */
interface Examined {
  readonly name: string;
  readonly subject: string;
  readonly status: 'ok' | 'warning' | 'fault';
  readonly findings: readonly Finding[];
}

export const doctor: Command = {
  summary: 'Checks the data folder, whether a server has it open or not, and says what to do.',
  operands: [],
  flags: {
    file: { value: 'FILE', help: 'check this database, such as a backup, that nobody writes to' },
  },
  async run(input) {
    const { flags, dataFolder, isJson, out } = input;
    const { file } = flags;
    const now = Date.now();
    const checks = file === undefined ? checkDataFolder(dataFolder, now) : checkDatabaseFile(file);
    const examined = [...examine(input, checks), ...examine(input, [{
      name: 'node', subject: `the release of Node, ${process.version}`,
      findings: checkNodeRelease(process.version, now),
    }])];
    const count = (level: Finding['level']): number =>
      examined.flatMap(({ findings }) => findings).filter((found) => found.level === level).length;
    const [faults, warnings] = [count('fault'), count('warning')];
    const status = faults > 0 ? 'fault' : warnings > 0 ? 'warning' : 'ok';
    if (isJson) out(JSON.stringify({ status, faults, warnings, checks: examined }));
    if (faults > 0) throw new CommandFailure(`Doctor found ${formatCounted(faults, 'fault')}.`);
    if (isJson) return;
    out(warnings > 0 ? `No fault, and ${formatCounted(warnings, 'warning')}.` : 'All is well.');
  },
};

/** Makes each check, and says at once what it has found. */
function* examine(
  { isJson, out }: Input, checks: Iterable<Check>,
): Generator<Examined, void, void> {
  for (const { name, subject, findings: found } of checks) {
    const done = announce(subject);
    const findings = [...found];
    done();
    const levels = findings.map(({ level }) => level);
    const status = levels.includes('fault') ? 'fault'
      : levels.includes('warning') ? 'warning' : 'ok';
    const examined = { name, subject, status, findings } as const;
    if (!isJson) out(format(examined));
    yield examined;
  }
}

function format({ name, subject, status, findings }: Examined): string {
  const lines = findings.map(({ level, what, advice }) => `  ${level}: ${what}\n    ${advice}`);
  return [`${status.padEnd(8)} ${name.padEnd(13)} ${subject}`, ...lines].join('\n');
}

/** On a terminal, what is being checked, until what it returns is called: some take minutes. */
function announce(subject: string): () => void {
  const { stderr } = process;
  if (!stderr.isTTY) return () => {};
  stderr.write(`Checking ${subject} ...`);
  return () => void stderr.write('\r\x1b[K');
}
