/** The syntax trees of source files, by the TypeScript compiler. */
import { join, relative } from 'node:path';
import type { SourceFile } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

/**
 * Reads files of a project with a `tsconfig.json`. `select` chooses from the paths of its files,
 * which are relative to `root`. The trees are usable only within `read`.
 */
export function mapSourceFiles<Value>(
  root: string, select: (paths: readonly string[]) => readonly string[],
  read: (file: SourceFile, path: string) => Value,
): Value[] {
  const api = new API({ cwd: root });
  try {
    const program = api.updateSnapshot({ openProject: join(root, 'tsconfig.json') })
      .getProjects()[0]?.program;
    const paths = program?.getSourceFileNames().map((name) => relative(root, name)) ?? [];
    return select(paths).map((path) => {
      const file = program?.getSourceFile(join(root, path));
      if (!file) throw new Error(`${path} is not in the project.`);
      return read(file, path);
    });
  } finally {
    api.close();
  }
}
