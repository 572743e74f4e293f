/** The SQL in the source, to find statements that no test executes. */
import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import { ROOT } from '../../audit/places.ts';
import { mapSourceFiles } from '../../audit/source-files.ts';

interface SqlLiteral {
  /** Below `src/store/`. */
  readonly path: string;
  /** The longest part of a statement without an interpolation, as `normalizeSql` returns it. */
  readonly text: string;
}

const STORE = 'src/store/';
const STATEMENT = /^\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s/;
const STRINGS = new Set([SyntaxKind.StringLiteral, SyntaxKind.NoSubstitutionTemplateLiteral]);
const TEMPLATE_PARTS = new Set([
  SyntaxKind.TemplateHead, SyntaxKind.TemplateMiddle, SyntaxKind.TemplateTail,
]);

/** The statements in the files below `src/store/`. */
export function listSqlLiterals(): readonly SqlLiteral[] {
  const select = (paths: readonly string[]) => paths.filter((path) => path.startsWith(STORE));
  return mapSourceFiles(ROOT, select, (file, path) => listLiterals(file)
    .filter((parts) => STATEMENT.test(parts[0] ?? '')).map((parts) => ({
      path: path.slice(STORE.length),
      text: parts.map(normalizeSql).toSorted((one, other) => other.length - one.length)[0] ?? '',
    }))).flat();
}

/** The parts between interpolations, of each literal within a node. */
function listLiterals(node: Node): readonly (readonly string[])[] {
  const literals: string[][] = [];
  const visit = (child: Node, template: string[]): void => {
    // The cast: all kinds of literals have a text.
    const { text = '' } = child as { readonly text?: string };
    if (STRINGS.has(child.kind)) literals.push([text]);
    if (TEMPLATE_PARTS.has(child.kind)) template.push(text);
    const parts: string[] = child.kind === SyntaxKind.TemplateExpression ? [] : template;
    if (parts !== template) literals.push(parts);
    child.forEachChild((inner) => visit(inner, parts));
  };
  visit(node, []);
  return literals;
}

/** One line, with `?` for each parameter, since engines write them differently. */
export function normalizeSql(text: string): string {
  return text.replaceAll(/(?<!:):\w+|\$\d+|\?\d*/g, '?').replaceAll(/\s+/g, ' ').trim();
}
