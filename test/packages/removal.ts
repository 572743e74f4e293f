/**
 * Copies the project without some features: without their folders, their pages in the portal, and
 * the lines of the composition that name them. Everything else is copied unchanged.
 */
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export const FEATURES = [
  'changes', 'imports', 'openapi', 'portal', 'telemetry', 'webhooks',
] as const;
export type FeatureName = (typeof FEATURES)[number];

/** Files that import features. Every line that names a feature uses one of those imports. */
const COMPOSITION = ['src/features.ts', 'src/features/portal/routes.ts'];
const COPIED = ['src', 'package.json', 'tsconfig.json'];

/** Writes the copy to `folder`. */
export function copyWithout(features: readonly FeatureName[], folder: string): void {
  for (const name of COPIED) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const removed = features.flatMap((feature) =>
    [`src/features/${feature}/`, `src/features/portal/${feature}/`]);
  for (const path of removed) rmSync(join(folder, path), { recursive: true, force: true });
  for (const path of COMPOSITION.filter((name) => existsSync(join(folder, name)))) {
    const text = readFileSync(join(folder, path), 'utf8');
    writeFileSync(join(folder, path), removeLines(path, text, removed));
  }
}

/** Removes the imports from these folders, and every line that uses an imported name. */
function removeLines(path: string, text: string, folders: readonly string[]): string {
  const names: string[] = [];
  const statement = /^(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)';\n/gm;
  const rest = text.replaceAll(statement, (whole, list: string, from: string) => {
    const target = normalize(join(dirname(path), from));
    if (!folders.some((folder) => target.startsWith(folder))) return whole;
    names.push(...list.split(',').map((name) => name.replace('type ', '').trim()).filter(Boolean));
    return '';
  });
  const used = names.map((name) => new RegExp(`^[^*]*\\b${name}\\b`));
  return rest.split('\n').filter((line) => !used.some((name) => name.test(line))).join('\n');
}
