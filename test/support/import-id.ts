/** Import ids in responses, which differ in each test. */
import assert from 'node:assert/strict';

export const IMPORT_ID = /^imp_[0-9a-v]{22}$/;

/** The other members of an object whose `import`, if it has one, must be an id. */
export function withoutImport<Members extends { readonly import?: string }>(
  { import: id, ...members }: Members,
): Omit<Members, 'import'> {
  if (id !== undefined) assert.match(id, IMPORT_ID);
  return members;
}

/** The last line of a report, whose summary is without its import id. */
export function parseLastLine(text: string) {
  const { summary, problem, ...line } = JSON.parse(text);
  return {
    ...line,
    ...(summary && { summary: withoutImport(summary) }),
    ...(problem && {
      problem: { ...problem, ...(problem.summary && { summary: withoutImport(problem.summary) }) },
    }),
  };
}
