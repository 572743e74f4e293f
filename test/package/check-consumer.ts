/** Type-checks programs that use the package, with the strictest options of a consumer. */
import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PROGRAMS = join(import.meta.dirname, 'consumer');

/** How consumers set up their compiler: what resolves modules, and what their programs run on. */
const SETTINGS = {
  'module nodenext': { module: 'nodenext', types: ['node'] },
  'module node16': { module: 'node16', types: ['node'] },
  bundler: { module: 'esnext', moduleResolution: 'bundler', types: ['node'] },
  'the client without @types/node': {
    module: 'esnext', moduleResolution: 'bundler', types: [],
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
  },
} as const;

/** Returns what the compiler reports in `project`, by setting; empty without a problem. */
export function checkConsumer(project: string, compiler: string): Record<string, string> {
  cpSync(PROGRAMS, project, { recursive: true });
  return Object.fromEntries(Object.entries(SETTINGS).map(([name, setting]) => {
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({
      compilerOptions: {
        target: 'es2022', lib: ['esnext'], strict: true, noEmit: true, skipLibCheck: false,
        exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true,
        verbatimModuleSyntax: true, ...setting,
      },
      files: setting.types.length > 0 ? ['client.mts', 'embedding.mts'] : ['client.mts'],
    }));
    const args = [compiler, '--project', project];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return [name, status === 0 ? '' : `${stdout}${stderr}`];
  }));
}
