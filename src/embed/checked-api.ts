/**
 * Checks the arguments of a catalogue's methods before they are used, so that a program in
 * JavaScript gets an AppError. Data are left to the validators of the API.
 */
import type { SellerApi } from '../client/seller-client.ts';
import { isObject, wrongArgument } from '../domain/arguments.ts';

type Check = readonly [isRight: (value: unknown) => boolean, expected: string];

const object: Check = [isObject, 'an object'];
const callback: Check = [(value) => typeof value === 'function', 'a function'];
const text: Check = [(value) => typeof value === 'string' && value.isWellFormed(), 'a string'];
const integer: Check = [Number.isSafeInteger, 'a whole number'];
const version: Check = [
  (value) => text[0](value) || integer[0](value), 'a position or an ETag',
];
const position: Check = [version[0], 'a position'];
const target: Check = [
  (value) => text[0](value) || (isObject(value) && 'sku' in value && text[0](value.sku)),
  'an id or { sku }',
];
const source: Check = [
  (value) => typeof value === 'string' || value instanceof Blob
    || (isObject(value) || Array.isArray(value))
      && (Symbol.iterator in value || Symbol.asyncIterator in value),
  'text, bytes, a stream, or an iterable of them or of objects',
];
const optionalText: Check = [(value) => value === undefined || text[0](value), 'a string'];
const options: Check = [
  (value) => value === undefined || (isObject(value)
    && (!('signal' in value) || value.signal === undefined || value.signal instanceof AbortSignal)),
  'an object whose `signal`, if any, is an AbortSignal',
];

/** The arguments of each method before its options; none for the other methods. */
const ARGUMENTS: {
  readonly [Group in Groups]: { readonly [Name in keyof SellerApi[Group]]?: readonly Check[] };
} = {
  products: {
    create: [object],
    get: [target],
    getIfChanged: [target, version],
    put: [text, object],
    patch: [target, object],
    update: [target, callback],
    delete: [target],
    export: [object],
    import: [source],
  },
  stock: { sync: [source] },
  imports: { get: [text], revert: [object] },
  webhooks: {
    create: [object],
    get: [text],
    patch: [text, object],
    delete: [text],
    deliveries: [text],
    delivery: [text, integer],
    resend: [text, integer],
    retry: [text],
    test: [text],
    replay: [text, position],
    rotateSecret: [text, optionalText],
  },
};
type Groups = Exclude<keyof SellerApi, 'changes'>;

/** They return a generator, and so throw; the others reject. */
const LISTS: ReadonlySet<string> = new Set([
  'changes', 'list', 'levels', 'movements', 'deliveries',
]);

/** The same catalogue, whose methods check their arguments. */
export function checkArguments(api: SellerApi): SellerApi {
  for (const [group, methods] of Object.entries(ARGUMENTS)) {
    // The casts: the groups are objects, with methods by name.
    const owner = api[group as Groups];
    const checks = methods as Readonly<Record<string, readonly Check[]>>;
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(owner))) {
      if (name !== 'constructor') replace(owner, `${group}.`, name, checks[name] ?? []);
    }
  }
  replace(api, '', 'changes', [object]);
  return api;
}

function replace(owner: object, group: string, name: string, before: readonly Check[]): void {
  const method: unknown = Reflect.get(owner, name);
  if (typeof method !== 'function') return;
  const checks = [...before, options];
  Object.defineProperty(owner, name, {
    value(...args: unknown[]): unknown {
      const wrong = checks.findIndex(([isRight], index) => !isRight(args[index]));
      if (wrong < 0) return Reflect.apply(method, owner, args);
      const expected = `Argument ${wrong + 1} must be ${checks[wrong]?.[1]}.`;
      const error = wrongArgument(group + name, expected);
      if (LISTS.has(name)) throw error;
      return Promise.reject(error);
    },
  });
}
