/**
 * The operators: each weakens a guard in the syntax tree of a source file, without changing its
 * types or what else it does. A check keeps its evaluation, since that may have effects.
 */
import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import {
  isAsExpression, isAwaitExpression, isBinaryExpression, isBlock, isCallExpression,
  isConditionalExpression, isExpressionStatement, isFunctionLikeDeclaration, isIdentifier,
  isIfStatement, isObjectLiteralExpression, isParenthesizedExpression, isPropertyAccessExpression,
  isReturnStatement, isSpreadAssignment, isThrowStatement,
} from 'typescript/unstable/ast/is';
import { findSqlEdits, SHIFTED, type SqlEdit } from './sql-guards.ts';

export type Operator = SqlEdit['operator'] | 'flush-skipped' | 'signature-accepted'
  | 'replay-skipped' | 'access-widened';

/** The text from `start` to `end` is replaced. */
export interface Edit {
  readonly operator: Operator;
  readonly node: Node;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** Statements that only check, and throw. */
const CHECK_CALL = /^(?:assert|authorize|reject|require|check|verify|validate)[A-Z]?/;
const DURABLE_CALL = /^(?:fsync|fsyncSync|fdatasyncSync|syncFile|syncFolder|renameSync)$/;
const VERIFYING_CALL = /^(?:timingSafeEqual|verify|verifySignature|equals)$/;
/** Makes the reply to a check that failed. */
const REJECTION = /^(?:reject|refuse|redirectTo|renderRoleNeeded|problem|invalid|fail)/;
const FULL_SYNC = 'synchronous = FULL';
const LITERALS = new Set<SyntaxKind>([
  SyntaxKind.StringLiteral, SyntaxKind.NoSubstitutionTemplateLiteral, SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle, SyntaxKind.TemplateTail,
]);
/** In the tables of routes: what another key or role has instead. */
const WIDENED: Readonly<Record<string, string>> = {
  "'products:read'": "'changes:read'", "'products:write'": "'products:read'",
  "'prices:write'": "'products:read'", "'stock:write'": "'products:read'",
  "'changes:read'": "'products:read'",
  "'webhooks:write'": "'products:read'", "'owner'": "'viewer'", "'editor'": "'viewer'",
};
/** The shared part of the portal's routes that not every member may open. */
const RESTRICTED_ROUTE = /^(?:owner|editor)(?:Get|Post)$/;
const ROUTE_TABLE = /(?:^|\/)(?:routes|feature|page-routes|portal-pages|pages)\.ts$/;

/** The edits of one node, without those of the nodes in it. */
export function findEdits(node: Node, path: string): Edit[] {
  const edits: Edit[] = [];
  const add = (operator: Operator, target: Node, toText: (text: string) => string): void => {
    const start = target.getStart();
    const text = target.getText();
    edits.push({ operator, node, start, end: target.end, replacement: toText(text) });
  };
  if (isIfStatement(node)) addGuard(node.thenStatement, node.expression, nextOf(node), add);
  if (isConditionalExpression(node)) {
    if (isNothing(node.whenFalse)) addAccepted(node.condition, add, isExistenceTest);
    else if (isNothing(node.whenTrue)) {
      addIgnored(node.condition, 'check-skipped', add, isExistenceTest);
    }
  }
  if (isReturnStatement(node) && node.expression && returnsBoolean(node)) {
    const operands = operandsOf(node.expression, SyntaxKind.AmpersandAmpersandToken);
    if (operands.length > 1) addAccepted(node.expression, add, isExistenceTest);
    else addShifted(node.expression, add);
  }
  if (isExpressionStatement(node)) {
    const name = nameOfCall(node.expression);
    if (CHECK_CALL.test(name)) add('check-skipped', node, () => ';');
    if (DURABLE_CALL.test(name)) add('flush-skipped', node, () => ';');
  }
  if (isCallExpression(node) && VERIFYING_CALL.test(nameOfCall(node))
    && !isExpressionStatement(node.parent)) {
    add('signature-accepted', node, (text) => `(${text}, true)`);
  }
  if (LITERALS.has(node.kind)) addLiteral(node, path, edits, add);
  if (isSpreadAssignment(node) && ROUTE_TABLE.test(path)) {
    const text = node.expression.getText();
    if (RESTRICTED_ROUTE.test(text)) {
      add('access-widened', node.expression, () => `{ ...${text}, role: 'viewer' }`);
    }
  }
  return edits;
}

type Add = (operator: Operator, target: Node, toText: (text: string) => string) => void;

/** `if (isBad) throw`, or `if (isGood) return` before a `throw`. */
function addGuard(then: Node, condition: Node, next: Node | undefined, add: Add): void {
  const [last = then] = statementsOf(then).slice(-1);
  if (isReturnStatement(last) && last.expression && nameOfCall(last.expression) === 'replay') {
    addIgnored(condition, 'replay-skipped', add);
  } else if (isRejecting(last)) {
    const value = isReturnStatement(last) ? last.expression : undefined;
    const excluded = value && isNothing(value) ? isExistenceTest : undefined;
    addIgnored(condition, 'check-skipped', add, excluded);
  } else if (isReturnStatement(last) && next && isThrowStatement(next)) addAccepted(condition, add);
}

/** The condition, or each of its alternatives, never holds. */
function addIgnored(
  condition: Node, operator: Operator, add: Add, isExcluded?: (operand: Node) => boolean,
): void {
  for (const operand of operandsOf(condition, SyntaxKind.BarBarToken)) {
    if (!isExcluded?.(operand)) add(operator, operand, (text) => `((${text}), false)`);
  }
  addShifted(condition, add);
}

/** The condition, or each of its conjuncts, always holds. */
function addAccepted(
  condition: Node, add: Add, isExcluded?: (operand: Node) => boolean,
): void {
  for (const operand of operandsOf(condition, SyntaxKind.AmpersandAmpersandToken)) {
    if (!isExcluded?.(operand)) add('check-skipped', operand, (text) => `((${text}), true)`);
  }
  addShifted(condition, add);
}

/** The comparisons of a condition, by one. */
function addShifted(condition: Node, add: Add): void {
  if (isFunctionLikeDeclaration(condition)) return;
  if (isBinaryExpression(condition)) {
    const shifted = SHIFTED[condition.operatorToken.getText()];
    if (shifted !== undefined) add('comparison-shifted', condition.operatorToken, () => shifted);
  }
  condition.forEachChild((child) => addShifted(child, add));
}

function addLiteral(node: Node, path: string, edits: Edit[], add: Add): void {
  const text = node.getText();
  const offset = node.getStart();
  for (const { start, end, ...edit } of findSqlEdits(text)) {
    edits.push({ ...edit, node, start: offset + start, end: offset + end });
  }
  const at = text.indexOf(FULL_SYNC);
  if (at !== -1) {
    edits.push({
      operator: 'flush-skipped', node, start: offset + at, end: offset + at + FULL_SYNC.length,
      replacement: 'synchronous = OFF',
    });
  }
  const wider = ROUTE_TABLE.test(path) ? WIDENED[text] : undefined;
  if (wider !== undefined) add('access-widened', node, () => wider);
}

function isRejecting(statement: Node): boolean {
  // An error that is thrown again was not expected: it is no check.
  if (isThrowStatement(statement)) return !isIdentifier(statement.expression);
  if (!isReturnStatement(statement) || !statement.expression) return false;
  const value = statement.expression;
  return isNothing(value) || value.kind === SyntaxKind.StringLiteral
    || REJECTION.test(nameOfCall(value))
    || (isObjectLiteralExpression(value) && /^\{ (?:error|rejection)\b/.test(value.getText()));
}

function isNothing(node: Node): boolean {
  return /^(?:undefined|null|false)$/.test(node.getText());
}

/** Without such a test for nothing, the code after it finds nothing, or fails with a TypeError. */
function isExistenceTest(node: Node): boolean {
  return /^!?\w+$|(?:===|!==) undefined$|^'\w+' in \w+$/.test(node.getText());
}

function returnsBoolean(node: Node): boolean {
  let parent: Node | undefined = node.parent;
  while (parent && !isFunctionLikeDeclaration(parent)) parent = parent.parent;
  // The cast: every function-like node has this member.
  const { type } = (parent ?? {}) as { readonly type?: Node };
  return type !== undefined && /^(?:Promise<)?boolean>?$/.test(type.getText());
}

/** `a` and `b` of `a || b`, also in parentheses. */
function operandsOf(node: Node, operator: SyntaxKind): Node[] {
  if (isParenthesizedExpression(node)) return operandsOf(node.expression, operator);
  if (!isBinaryExpression(node) || node.operatorToken.kind !== operator) return [node];
  return [...operandsOf(node.left, operator), ...operandsOf(node.right, operator)];
}

/** The name of the function that is called, perhaps awaited; '' for anything else. */
function nameOfCall(node: Node): string {
  if (isAwaitExpression(node) || isAsExpression(node)) return nameOfCall(node.expression);
  if (!isCallExpression(node)) return '';
  const { expression } = node;
  if (isPropertyAccessExpression(expression)) return expression.name.getText().replace('#', '');
  return isIdentifier(expression) ? expression.getText() : '';
}

function statementsOf(node: Node): readonly Node[] {
  return isBlock(node) ? node.statements : [node];
}

/** The statement that runs after this one, also if this one is the last in the block of an `if`. */
function nextOf(node: Node): Node | undefined {
  const { parent } = node;
  if (!isBlock(parent)) return undefined;
  const statements = parent.statements;
  const next = statements[statements.findIndex((statement) => statement.pos === node.pos) + 1];
  return next ?? (isIfStatement(parent.parent) ? nextOf(parent.parent) : undefined);
}
