/** The completion scripts, each in its shell with simulated input; missing shells are skipped. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { listFlags } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { run } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';

/** Whether there is a command that begins like this text: `make minimal` omits some. */
const isThere = ([typed]: readonly [typed: string, ...others: string[]]): boolean =>
  [...commands.keys()].some((name) => name.startsWith(typed.split(/[ \t]/)[0] ?? ''));

/** Typed text, a word that must be offered, and one that must not. */
const CASES = ([
  ['prof', 'profile', 'serve'],
  ['profile ', 'remove', 'serve'],
  ['key l', 'list', 'create'],
  ['export --pr', '--price-min', '--url'],
  ['import --format ', 'ndjson', '--mode'],
  ['import --format csv --mo', '--mode', '--format'],
  ['completion ', 'fish', 'profile'],
  ['changes tail --types created,st', 'created,stock', 'created,deleted'],
] as const).filter(isThere);

/** What a line calls that a terminal completed. */
const PRINT_LINE = 'seller-api() { echo "[got:$* end]"; }\n';

interface Choice {
  /** The command line up to the value. */
  readonly typed: string;
  readonly choices: readonly string[];
}

/** Every flag with a choice of values. */
async function listChoices(): Promise<readonly Choice[]> {
  const loaded = await Promise.all([...commands].map(async ([name, load]) =>
    ({ name, flags: listFlags(await load()) })));
  return loaded.flatMap(({ name, flags }) => Object.entries(flags).flatMap(([flag, { choices }]) =>
    (choices ? [{ typed: `${name} --${flag} `, choices }] : [])));
}

/** Asserts that the lines between two line feeds are what is offered for each flag. */
function assertOffered(flags: readonly Choice[], out: string): void {
  assert.ok(flags.length > 5, 'some flags have choices');
  const offers = out.split('\n\n').map((lines) =>
    lines.split('\n').map((line) => line.split('\t')[0]).filter(Boolean).sort());
  for (const [index, { typed, choices }] of flags.entries()) {
    assert.deepEqual(offers[index], [...choices].sort(), typed);
  }
}

/** Writes a script to a file; skips the test if the shell is missing. */
async function writeScript(t: TestContext, shell: string): Promise<string | undefined> {
  if (spawnSync(shell, ['-c', 'exit 0']).status !== 0) {
    t.skip(`needs ${shell}`);
    return undefined;
  }
  const { status, out } = await run(['completion', shell]);
  assert.equal(status, 0);
  const path = join(makeFolder(t), 'script');
  writeFileSync(path, out);
  return path;
}

/** Runs a program in a shell without the user's settings. */
function evaluate(shell: string, flags: readonly string[], program: string): string {
  const { status, stdout, stderr } = spawnSync(shell, [...flags, '-c', program], {
    encoding: 'utf8', timeout: 60_000,
  });
  assert.deepEqual([status, stderr], [0, '']);
  return stdout;
}

describe('completes commands, flags and values', { concurrency: true }, () => {
  test('in bash', async (t) => {
    const path = await writeScript(t, 'bash');
    if (path === undefined) return;
    for (const [typed, offered, not] of CASES) {
      const out = evaluate('bash', ['--norc'], `source '${path}'
        COMP_LINE='seller-api ${typed}' COMP_POINT=\${#COMP_LINE}
        _seller_api; printf '%s\\n' "\${COMPREPLY[@]}"; complete -p seller-api`);
      const lines = out.split('\n');
      assert.ok(lines.includes(offered) && !lines.includes(not), `${typed}: ${out}`);
      assert.ok(lines.includes('complete -o default -F _seller_api seller-api'), out);
    }
    const flags = await listChoices();
    const program = flags.map(({ typed }) => `
      COMP_LINE='seller-api ${typed}' COMP_POINT=\${#COMP_LINE}
      _seller_api; printf '%s\\n' "\${COMPREPLY[@]}" ''`);
    assertOffered(flags, evaluate('bash', ['--norc'], `source '${path}'\n${program.join('\n')}`));
  });

  test('in fish', async (t) => {
    const path = await writeScript(t, 'fish');
    if (path === undefined) return;
    for (const [typed, offered, not] of CASES) {
      const out = evaluate('fish', ['--no-config'],
        `source '${path}'; complete -C 'seller-api ${typed}'`);
      const words = out.split('\n').map((line) => line.split('\t')[0] ?? '');
      assert.ok(words.includes(offered) && !words.includes(not), `${typed}: ${out}`);
    }
    const flags = await listChoices();
    const program = flags.map(({ typed }) => `complete -C 'seller-api ${typed}'; echo`).join('\n');
    assertOffered(flags, evaluate('fish', ['--no-config'], `source '${path}'\n${program}`));
  });

  test('in a terminal with bash, which breaks words at colons and equals signs', async (t) => {
    const path = await writeScript(t, 'bash');
    if (path === undefined || await writeScript(t, 'zsh') === undefined) return;
    writeFileSync(join(dirname(path), 'rc'), `source '${path}'\n${PRINT_LINE}`);
    assertCompleted(`bash --noprofile --rcfile '${join(dirname(path), 'rc')}' -i`, [
      ['profi\tlis\t', 'profile list .'],
      ['key create --scopes pro\tr\t', 'key create --scopes products:read .'],
      ['key create --scopes products:read,pri\t',
        'key create --scopes products:read,prices:write .'],
      ['key create --scopes=products:read,pri\t',
        'key create --scopes=products:read,prices:write .'],
      ['products list --sort=-pr\t', 'products list --sort=-price .'],
      ['products list --sort -pr\t', 'products list --sort -price .'],
      ['changes tail --types=cr\t', 'changes tail --types=created .'],
    ]);
  });

  test('in zsh', async (t) => {
    const path = await writeScript(t, 'zsh');
    if (path === undefined) return;
    writeFileSync(join(dirname(path), '.zshrc'),
      `autoload -U compinit; compinit -u -D\nsource '${path}'\n${PRINT_LINE}`);
    assertCompleted(`env ZDOTDIR='${dirname(path)}' zsh -i`, [
      ['profi\tlis\t', 'profile list .'], ['export --price-mi\t', 'export --price-min .'],
      ['import --format nd\t', 'import --format ndjson .'], ['completion z\t', 'completion zsh .'],
      ['changes tail --types created,st\t', 'changes tail --types created,stock .'],
      ['products list --sort -pr\t', 'products list --sort -price .'],
    ]);
  });
});

/** Types key strokes in a shell in a pseudo-terminal, and asserts the lines that they become. */
function assertCompleted(shell: string, cases: readonly [typed: string, line: string][]): void {
  for (const [typed, line] of cases.filter(isThere)) {
    const out = evaluate('zsh', ['-f'], `zmodload zsh/zpty
      zpty shell ${shell}
      zpty -w shell $'seller-api ${typed.replaceAll('\t', '\\t')}.'
      zpty -r -m shell out '*\\[got:* end\\]*'; print -r -- $out; zpty -d shell`);
    assert.ok(out.includes(`[got:${line} end]`), JSON.stringify([typed, out]));
  }
}

test('names the supported shells', async () => {
  for (const shell of ['tcsh', 'toString']) {
    const { status, notes } = await run(['completion', shell]);
    assert.equal(status, 2);
    assert.match(notes, /^Name a shell: bash, zsh, fish\. /);
  }
});
