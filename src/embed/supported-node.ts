/**
 * Throws when it is imported by a Node that is too old. The package's main entry imports it first.
 * Node 20 can parse and link the modules after it: they do not import what it lacks by name, but
 * take it from `process.getBuiltinModule` or from the namespace of its module.
 */
// @ts-expect-error Plain JavaScript without declarations, as the launcher needs it.
import { nodeProblem } from '../node-version.js';

if (nodeProblem !== undefined) {
  const error = new Error(nodeProblem);
  error.stack = `${error}`; // where it was imported does not matter
  throw error;
}
