/** Trees of selections that tests write, and the routes that each must have. */
import { execFile } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { type Room, ROOMS, type Selection } from '../../.toolchain/composition.ts';
import { writeTree } from '../../.toolchain/minimal.ts';
import { ROOT } from '../../.toolchain/tree.ts';
import { describeRoutes } from '../../src/feature.ts';
import { features } from '../../src/features.ts';
import { parts } from '../../src/features/portal/routes.ts';
import { makeFolder } from '../support/folder.ts';

const execute = promisify(execFile);

/** The order of `features`, and of the parts of the portal; undefined for its own pages. */
const FEATURE_ROOMS: readonly Room[] = [
  'imports', 'changes', 'openapi', 'webhooks', 'portal', 'telemetry',
];
const PART_ROOMS: readonly (Room | undefined)[] = [
  undefined, 'imports', 'changes', undefined, 'webhooks', 'openapi', undefined,
];

export const SINGLES: readonly Selection[] = ROOMS.map((room) => new Set([room]));
export const PAIRS: readonly Selection[] = ROOMS.flatMap((room, index) =>
  ROOMS.slice(index + 1).map((other) => new Set([room, other])));

export function nameOf(selection: Selection): string {
  return [...selection].join(' and ') || 'the smallest tree';
}

/** Writes the tree of a selection, with the packages of this project. */
export function makeTree(t: Pick<TestContext, 'after'>, selection: Selection): string {
  const folder = makeFolder(t);
  writeTree(folder, selection);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Runs a program in a tree; its output, even if it fails. */
export async function runIn(folder: string, ...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await execute(process.execPath, args, {
    cwd: folder, maxBuffer: 64 * 1024 * 1024,
  }).catch((error: { readonly stdout: string; readonly stderr: string }) => error);
  return stdout + stderr;
}

/** `METHOD path` of each route of the API, and of each page of the portal, sorted. */
export interface Routes {
  readonly api: readonly string[];
  readonly pages: readonly string[];
}

export function listExpectedRoutes(selection: Selection): Routes {
  const isThere = (room: Room | undefined): boolean => room === undefined || selection.has(room);
  const { routes } = describeRoutes(features.filter((_, at) => isThere(FEATURE_ROOMS[at])));
  const pages = parts.filter((_, at) => isThere(PART_ROOMS[at])).flatMap((part) => part.routes);
  const filters = ['POST /filters', 'POST /filters/delete'];
  return {
    api: routes.map(toLine).sort(),
    pages: selection.has('portal') ? [...pages.map(toLine), ...filters].sort() : [],
  };
}

export async function listRoutes(folder: string): Promise<Routes> {
  const script = `
    import { existsSync } from 'node:fs';
    const { describeRoutes } = await import('./src/feature.ts');
    const { features } = await import('./src/features.ts');
    const portal = './src/features/portal/routes.ts';
    const pages = existsSync(portal) ? (await import(portal)).routes : [];
    const toLines = (routes) => routes.map(({ method, path }) => method + ' ' + path).sort();
    const api = toLines(describeRoutes(features).routes);
    process.stdout.write(JSON.stringify({ api, pages: toLines(pages) }));`;
  return JSON.parse(await runIn(folder, '--input-type=module', '--eval', script));
}

function toLine({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
