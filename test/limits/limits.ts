/**
 * Renders the table of limits from the exported constants of the `limits.ts` files and their
 * comments: `What it limits; why this value.` A comment covers the constants that follow it.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MINUTE_MS } from '../../src/domain/time.ts';

const ROOT = join(import.meta.dirname, '../..');

export const LIMITS_FILE = join(ROOT, 'src/LIMITS.md');

export interface Limit {
  readonly name: string;
  readonly value: unknown;
  /** Empty where a constant has no comment. */
  readonly comment: string;
}

/** A comment and the constants below it, or a constant with nothing above it. */
const GROUP =
  /(?:\/\*\*(?<comment>(?:(?!\*\/)[^])*)\*\/\n)?(?<constants>(?:export const [^;]+;\n)+)/g;
const NAME = /^export const (\w+)/gm;

const INTRODUCTION = `# Limits

Every input, list, loop, queue, table and wait has a limit. \`make limits\` renders this table from
the constants in the \`limits.ts\` of each room; a test asserts relations between them.
`;

const UNITS: readonly (readonly [suffix: string, format: (value: number) => string])[] = [
  ['_BYTES_PER_SECOND', (value) => `${formatBytes(value)}/s`],
  ['_PER_MINUTE', (value) => `${formatCount(value)} a minute`],
  ['_PER_HOUR', (value) => `${formatCount(value)} an hour`],
  ['_BYTES', formatBytes],
  ['_KIB', (value) => formatBytes(value * 1024)],
  ['_MIB', (value) => formatBytes(value * 1024 ** 2)],
  ['_MS', formatDuration],
  ['_SECONDS', (value) => formatDuration(value * 1000)],
  ['_HOURS', (value) => `${value} h`],
  ['_DAYS', (value) => `${formatCount(value)} days`],
  ['_CHARACTERS', (value) => `${formatCount(value)} characters`],
  ['_CODE_POINTS', (value) => `${formatCount(value)} code points`],
  ['_PAGES', (value) => `${formatCount(value)} pages`],
  ['_ROWS', (value) => `${formatCount(value)} rows`],
];

/** The folders with limits in alphabetical order, each with its limits in source order. */
export async function loadLimits(): Promise<ReadonlyMap<string, readonly Limit[]>> {
  const rooms = new Map<string, readonly Limit[]>();
  for (const path of globSync('src/**/limits.ts', { cwd: ROOT }).sort()) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const values: Readonly<Record<string, unknown>> = await import(join(ROOT, path));
    const limits = [...text.matchAll(GROUP)].flatMap(({ groups }) => {
      const { comment = '', constants = '' } = groups ?? {};
      return [...constants.matchAll(NAME)].map(([, name = '']) =>
        ({ name, value: values[name], comment: comment.replace(/\s*\n \*\s*/g, ' ').trim() }));
    });
    rooms.set(dirname(path).slice('src/'.length), limits);
  }
  return rooms;
}

/** The whole document, in Markdown. */
export async function renderLimits(): Promise<string> {
  const sections = [...await loadLimits()].map(([room, limits]) => {
    const rows = limits.map(({ name, value, comment }, index) => {
      const isFirst = comment !== limits[index - 1]?.comment;
      return `| \`${name}\` | ${formatValue(name, value)} | ${isFirst ? comment : '″'} |`;
    });
    return `\n## ${room}\n\n| limit | value | what and why |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return INTRODUCTION + sections.join('');
}

function formatValue(name: string, value: unknown): string {
  if (typeof value !== 'number') return `\`${JSON.stringify(value)}\``;
  const format = UNITS.find(([suffix]) => name.includes(suffix))?.[1] ?? formatCount;
  return format(value);
}

function formatCount(value: number): string {
  return value.toLocaleString('en');
}

function formatBytes(value: number): string {
  const units = [['GiB', 1024 ** 3], ['MiB', 1024 ** 2], ['KiB', 1024]] as const;
  const [unit, size] = units.find(([, bytes]) => value % bytes === 0) ?? ['bytes', 1];
  return `${formatCount(value / size)} ${unit}`;
}

function formatDuration(ms: number): string {
  const units = [['days', 1440 * MINUTE_MS], ['h', 60 * MINUTE_MS], ['min', MINUTE_MS]] as const;
  const [unit, size] = units.find(([, each]) => ms >= 2 * each && ms % each === 0)
    ?? (ms >= 1000 ? ['s', 1000] : ['ms', 1]);
  return `${formatCount(ms / size)} ${unit}`;
}
