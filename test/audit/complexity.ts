/** The cyclomatic complexity of functions, by the syntax tree of the TypeScript compiler. */
import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import { isBinaryExpression, isFunctionLikeDeclaration } from 'typescript/unstable/ast/is';
import { mapSourceFiles } from './source-files.ts';

/** Each adds a path through its function. */
const BRANCHES = new Set<SyntaxKind>([
  SyntaxKind.IfStatement, SyntaxKind.ConditionalExpression, SyntaxKind.CaseClause,
  SyntaxKind.CatchClause, SyntaxKind.ForStatement, SyntaxKind.ForInStatement,
  SyntaxKind.ForOfStatement, SyntaxKind.WhileStatement, SyntaxKind.DoStatement,
]);
const BRANCHING_OPERATORS = new Set<SyntaxKind>([
  SyntaxKind.AmpersandAmpersandToken, SyntaxKind.BarBarToken, SyntaxKind.QuestionQuestionToken,
  SyntaxKind.AmpersandAmpersandEqualsToken, SyntaxKind.BarBarEqualsToken,
  SyntaxKind.QuestionQuestionEqualsToken,
]);

export interface MeasuredFunction {
  /** `src/file.ts:12`. */
  readonly place: string;
  /** 1 without a branch. A function within it is measured by itself. */
  readonly complexity: number;
}

/** Every function of the project below a folder, such as `src`. */
export function measureFunctions(root: string, folder: string): readonly MeasuredFunction[] {
  const select = (paths: readonly string[]) =>
    paths.filter((path) => path.startsWith(`${folder}/`));
  return mapSourceFiles(root, select, (file, path) => listFunctions(file).map((node) => ({
    place: `${path}:${file.text.slice(0, node.end).split('\n').length}`, complexity: measure(node),
  }))).flat();
}

function listFunctions(node: Node): readonly Node[] {
  const inside: Node[] = isFunctionLikeDeclaration(node) ? [node] : [];
  node.forEachChild((child) => { inside.push(...listFunctions(child)); });
  return inside;
}

function measure(node: Node): number {
  let complexity = 1;
  const visit = (child: Node): void => {
    if (isFunctionLikeDeclaration(child)) return;
    if (BRANCHES.has(child.kind)) complexity += 1;
    if (isBinaryExpression(child) && BRANCHING_OPERATORS.has(child.operatorToken.kind)) {
      complexity += 1;
    }
    child.forEachChild(visit);
  };
  node.forEachChild(visit);
  return complexity;
}
