/** The values of flags, which are checked before a command does anything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Flag, listFlags, placeholderOf } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { run } from '../support/command.ts';

interface CommandFlag {
  readonly name: string;
  readonly flag: Flag;
  /** The words of the command, with its operands. */
  readonly words: readonly string[];
}

/** Every flag of every command that takes a value. */
const flags: readonly CommandFlag[] = (await Promise.all([...commands].map(async ([name, load]) => {
  const command = await load();
  const words = [...name.split(' '), ...(command.operands ?? []).map(() => '1')];
  return Object.entries(listFlags(command)).map(([flagName, flag]) =>
    ({ name: flagName, flag, words }));
}))).flat().filter(({ flag }) => placeholderOf(flag) !== undefined);

async function rejects(args: readonly string[], says: string): Promise<void> {
  const { status, out, notes } = await run(args);
  assert.deepEqual([status, out], [2, ''], args.join(' '));
  assert.ok(notes.startsWith(says), `${args.join(' ')}: ${notes}`);
}

test('names a flag without its value, with an example that it takes', async () => {
  for (const { name, flag, words } of flags) {
    const args = [...words, `--${name}`];
    await rejects(args, `--${name} needs a value, such as --${name} `);
    await rejects([...words, `--${name}=`], `--${name} needs a value, such as --${name} `);
    await rejects([...args, '--json=1'], `--${name} needs a value, such as --${name} `);
    const [, example = ''] = / such as --\S+ (.+)\. Run /.exec((await run(args)).notes) ?? [];
    if (flag.choices) assert.ok(flag.choices.includes(example), example);
    if (flag.range) assert.ok(Number(example) >= flag.range[0], example);
  }
});

test('rejects a number out of the range that the help has', async () => {
  for (const { name, flag: { range }, words } of flags) {
    if (!range) continue;
    const [least, largest] = range;
    const { out: help } = await run([...words, '--help']);
    const text = largest === undefined ? `from ${least} up` : `from ${least} to ${largest}`;
    assert.match(help, new RegExp(`^  --${name} .*; ${text}( \\[|$)`, 'm'));
    const wrong = [`${least - 1}`, 'x', '1.5', '1e3', '-1', ...largest ? [`${largest + 1}`] : []];
    for (const value of wrong) {
      await rejects([...words, `--${name}`, value],
        `--${name} takes a whole number ${text}, not "${value}".`);
    }
  }
});

test('rejects a value that is not one of the choices of its flag, and suggests one', async () => {
  for (const { name, flag: { choices, isList }, words } of flags) {
    if (!choices) continue;
    const [first = ''] = choices;
    const value = isList ? `${first},nothing` : 'nothing';
    const list = choices.join(', ').replace(/, ([^,]*)$/, ' or $1');
    const says = `--${name} takes ${list}, not "nothing".`;
    await rejects([...words, `--${name}`, value], says);
    const { notes } = await run([...words, `--${name}=${first}x`]);
    assert.match(notes, / Did you mean .*\?/);
  }
});

const wrong: readonly [args: readonly string[], says: string][] = [
  [['products', 'list', '--json=yes'], '--json takes no value.'],
  [['products', 'list', '--category', 'A', '--category', 'B'], '--category is given twice.'],
  [['products', 'list', '--category', '-A'],
    'A value of --category that starts with a dash needs an equals sign: --category=-A'],
  [['status', '--profile', 'none'], 'There is no profile "none". Create it: profile add none. Run'],
  [['webhook', 'delete', ''], 'WEBHOOK_ID is empty.'],
  [['products', 'list', '--q', '--json=1'], '--q needs a value'],
  [['products', 'list', '--q', '--'], '--q needs a value'],
  [['products', 'list', '--qq', 'x'], 'There is no flag --qq. Did you mean --q?'],
  [['products', 'list', '--toString'], 'There is no flag --toString.'],
  [['products', 'get', '-MUG-1'],
    'There is no flag -MUG-1. If it is not a flag, put -- before it.'],
];

for (const [args, says] of wrong) {
  test(`rejects "${args.join(' ')}"`, () => rejects(args, says));
}

test('takes the last value of a setting, so that it can override another', async () => {
  const { notes } = await run(['status', '--url', 'x', '--url', 'http://127.0.0.1:2']);
  assert.match(notes, /^server: No server at http:\/\/127\.0\.0\.1:2/);
});

test('takes a choice that starts with a dash', async () => {
  const { notes } = await run(['products', 'list', '--sort', '-price', '--url', 'x']);
  assert.match(notes, /^--url takes an address/);
});
