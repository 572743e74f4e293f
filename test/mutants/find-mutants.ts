/** Finds the mutants of source files: each is a guard that one operator weakens. */
import { type Node, type SourceFile } from 'typescript/unstable/ast';
import {
  isFunctionLikeDeclaration, isIdentifier, isPrivateIdentifier, isVariableDeclaration,
} from 'typescript/unstable/ast/is';
import { mapSourceFiles } from '../audit/source-files.ts';
import { type Edit, findEdits, type Operator } from './operators.ts';

export interface Mutant {
  /** Its file, function, operator and text, without line numbers: the same after other edits. */
  readonly id: string;
  readonly path: string;
  readonly operator: Operator;
  /** The whole text of the mutated file. */
  readonly source: string;
  readonly original: string;
  /** The lines with the guard, trimmed. */
  readonly lines: readonly string[];
  /** Where its effect is executed: for a statement that is prepared once, where it is used. */
  readonly places: readonly number[];
}

const ID_TEXT_LIMIT = 90;
/** A shorter text says little without its line. */
const ID_TEXT_MINIMUM = 20;

/** The mutants of files of a project with a `tsconfig.json`, in the order of their places. */
export function findMutants(root: string, paths: readonly string[]): Mutant[] {
  return mapSourceFiles(root, () => paths, findInFile).flat();
}

function findInFile(file: SourceFile, path: string): Mutant[] {
  const edits: Edit[] = [];
  const identifiers: Node[] = [];
  const visit = (node: Node): void => {
    edits.push(...findEdits(node, path));
    if (isIdentifier(node)) identifiers.push(node);
    node.forEachChild(visit);
  };
  file.forEachChild(visit);
  const counts = new Map<string, number>();
  return edits.map(({ operator, node, start, end, replacement }) => {
    const text = describe(file.text, start, end);
    const name = [path, functionOf(node), operator, text].filter(Boolean).join(' ');
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return {
      id: count === 1 ? name : `${name} #${count}`, path, operator, original: file.text,
      lines: wholeLines(file.text, start, end).split('\n').map((line) => line.trim()),
      source: file.text.slice(0, start) + replacement + file.text.slice(end),
      places: placesOf(node, start, identifiers, new Set()),
    };
  });
}

/** What is replaced, or its line. */
function describe(text: string, start: number, end: number): string {
  const isShort = end - start < ID_TEXT_MINIMUM;
  const described = isShort ? wholeLines(text, start, end) : text.slice(start, end);
  return described.trim().replaceAll(/\s+/g, ' ').slice(0, ID_TEXT_LIMIT);
}

function wholeLines(text: string, start: number, end: number): string {
  return text.slice(text.lastIndexOf('\n', start) + 1, text.indexOf('\n', end));
}

/** The named declarations around a node, `Authenticator.authenticate`. */
function functionOf(node: Node): string {
  const names: string[] = [];
  for (let parent: Node | undefined = node.parent; parent; parent = parent.parent) {
    if (!isFunctionLikeDeclaration(parent) && !isVariableDeclaration(parent)
      && !('members' in parent)) continue;
    // The cast: declarations have this member, and other nodes do not.
    const { name } = parent as { readonly name?: Node };
    if (name && (isIdentifier(name) || isPrivateIdentifier(name))) names.unshift(name.getText());
  }
  return names.join('.');
}

/** A constant takes effect where it is used: a statement is prepared once, and run elsewhere. */
function placesOf(
  node: Node, at: number, identifiers: readonly Node[], visited: Set<Node>,
): number[] {
  let parent: Node | undefined = node;
  while (parent && !isVariableDeclaration(parent) && !isFunctionLikeDeclaration(parent)) {
    parent = parent.parent;
  }
  if (!parent || !isVariableDeclaration(parent) || visited.has(parent)) return [at];
  visited.add(parent);
  const { name } = parent;
  const uses = identifiers.filter((identifier) =>
    identifier.getText() === name.getText() && identifier.pos !== name.pos);
  if (uses.length === 0) return [at];
  return uses.flatMap((use) => placesOf(use, use.getStart(), identifiers, visited));
}
