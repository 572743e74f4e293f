/**
 * Builds the single executable: a copy of Node with the files of the package inside. Node serves
 * them as a read-only file system (`useVfs`), so every import and asset is found as in a folder.
 * The same package and the same Node give the same bytes.
 *
 * Usage: node build-executable.ts PACKAGE OUTPUT, after build-package.ts in the folder PACKAGE
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [folder = '', output = ''] = process.argv.slice(2);
/** What the package needs in order to run. Executable and package have the same paths. */
const FILES = ['package.json', 'data/*.csv', 'dist/**/*.js'];
const START = 'seller-api.js';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > 26 || (major === 26 && minor >= 10)) {
  build();
} else {
  process.stderr.write('Only Node 26.10 or newer can build the executable, and this is '
    + `${process.version}. Type: make executable NODE="$(.toolchain/node 26.10.0)"\n`);
  process.exitCode = 1;
}

function build(): void {
  const files = globSync(FILES, { cwd: folder }).sort();
  const work = mkdtempSync(join(tmpdir(), 'seller-api-executable-'));
  try {
    writeFileSync(join(work, START), `import './dist/${START}';\n`);
    writeFileSync(join(work, 'sea.json'), JSON.stringify({
      main: START,
      mainFormat: 'module',
      output: resolve(output),
      disableExperimentalSEAWarning: true,
      useVfs: true,
      execArgv: ['--max-semi-space-size=4', '--disable-sigusr1'], // as in server-process.js
      assets: Object.fromEntries(files.map((file) => [file, resolve(folder, file)])),
    }));
    execFileSync(process.execPath, ['--build-sea', 'sea.json'], { cwd: work });
    process.stdout.write(execFileSync(resolve(output), ['--version']));
  } finally {
    rmSync(work, { recursive: true });
  }
}
