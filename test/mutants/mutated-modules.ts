/**
 * Prepares the modules that the tests of a mutant load, without a copy of the tree: the mutated
 * file, and the store's threads as bundles (`support/thread-bundles.js`), with the mutant in them.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../audit/places.ts';
import type { Mutant } from './find-mutants.ts';

const HOOK = join(import.meta.dirname, 'replace-modules.js');
const THREADS = [
  'src/store/sqlite/engine/writer-thread.ts', 'src/store/sqlite/search/search-thread.ts',
];

/** What this uses of esbuild, which comes with tsx. */
interface Bundler {
  build(options: object): Promise<{
    readonly outputFiles: readonly { readonly contents: Uint8Array }[];
    readonly metafile: { readonly inputs: Readonly<Record<string, unknown>> };
  }>;
  stop(): Promise<void>;
}

interface Bundle {
  readonly contents: Uint8Array;
  readonly inputs: ReadonlySet<string>;
}

export class MutatedModules {
  readonly #bundler: Bundler;
  /** Of the source as it is, by the path of a thread's module. */
  readonly #bundles = new Map<string, Bundle>();

  private constructor(bundler: Bundler) {
    this.#bundler = bundler;
  }

  static async create(): Promise<MutatedModules> {
    // The cast: the package's types are not part of this project.
    const bundler = await import(
      pathToFileURL(join(ROOT, 'node_modules/esbuild/lib/main.js')).href) as Bundler;
    const modules = new MutatedModules(bundler);
    for (const path of THREADS) modules.#bundles.set(path, await modules.#bundle(path));
    return modules;
  }

  /**
   * Writes the modules to a folder; returns the variables of processes that load them.
   * @throws SyntaxError if the mutant is no TypeScript
   */
  async write(folder: string, { path, source }: Mutant): Promise<NodeJS.ProcessEnv> {
    const urls: Record<string, string> = {};
    const add = (url: string, name: string, contents: string | Uint8Array): void => {
      urls[pathToFileURL(join(ROOT, url)).href] = join(folder, name);
      writeFileSync(join(folder, name), contents);
    };
    mkdirSync(folder, { recursive: true });
    add(path, 'mutated.js', stripTypeScriptTypes(source));
    for (const [index, [thread, bundle]] of [...this.#bundles].entries()) {
      const own = bundle.inputs.has(path) ? await this.#bundle(thread, { path, source }) : bundle;
      add(thread, `thread-${index}.js`, own.contents);
    }
    const list = join(folder, 'modules.json');
    writeFileSync(list, JSON.stringify(urls));
    return { REPLACED_MODULES: list, NODE_OPTIONS: `--import="${HOOK}"` };
  }

  async close(): Promise<void> {
    await this.#bundler.stop();
  }

  async #bundle(thread: string, mutant?: Pick<Mutant, 'path' | 'source'>): Promise<Bundle> {
    const { outputFiles, metafile } = await this.#bundler.build({
      absWorkingDir: ROOT, entryPoints: [thread], bundle: true, platform: 'node', format: 'esm',
      logLevel: 'silent', write: false, metafile: true,
      plugins: [{
        name: 'mutant',
        setup(build: { onLoad(filter: object, load: (args: { path: string }) => unknown): void }) {
          build.onLoad({ filter: /\.ts$/ }, ({ path }) => ({
            loader: 'ts',
            contents: mutant && path === join(ROOT, mutant.path) ? mutant.source
              : readFileSync(path, 'utf8'),
          }));
        },
      }],
    });
    const contents = outputFiles[0]?.contents ?? new Uint8Array();
    return { contents, inputs: new Set(Object.keys(metafile.inputs)) };
  }
}
