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

type Methods<Api> = { readonly [Name in keyof Api]: readonly Check[] };

const products: Methods<SellerApi['products']> = {
  create: [object, options],
  get: [target, options],
  getIfChanged: [target, version, options],
  put: [text, object, options],
  patch: [target, object, options],
  update: [target, callback, options],
  delete: [target, options],
  list: [options],
  listPage: [options],
  export: [object, options],
  import: [source, options],
};
const stock: Methods<SellerApi['stock']> = {
  sync: [source, options], levels: [options], movements: [options],
};
const webhooks: Methods<SellerApi['webhooks']> = {
  create: [object, options],
  list: [options],
  get: [text, options],
  patch: [text, object, options],
  delete: [text, options],
  deliveries: [text, options],
  delivery: [text, integer, options],
  resend: [text, integer, options],
  retry: [text, options],
  test: [text, options],
  replay: [text, integer, options],
  rotateSecret: [text, optionalText, options],
};
/** They return a generator, and so throw; the others reject. */
const LISTS: ReadonlySet<string> = new Set([
  'changes', 'list', 'levels', 'movements', 'deliveries',
]);

/** The same catalogue, whose methods check their arguments. */
export function checkArguments(api: SellerApi): SellerApi {
  replace(api.products, 'products', products);
  replace(api.stock, 'stock', stock);
  replace(api.webhooks, 'webhooks', webhooks);
  replace(api, '', { changes: [object] });
  return api;
}

function replace(
  api: object, group: string, methods: Readonly<Record<string, readonly Check[]>>,
): void {
  for (const [name, checks] of Object.entries(methods)) {
    const method: unknown = Reflect.get(api, name);
    if (typeof method !== 'function') continue;
    const what = [group, name].filter((part) => part !== '').join('.');
    Object.defineProperty(api, name, {
      value(...args: unknown[]): unknown {
        const wrong = checks.findIndex(([isRight], index) => !isRight(args[index]));
        if (wrong < 0) return Reflect.apply(method, api, args);
        const expected = `Argument ${wrong + 1} must be ${checks[wrong]?.[1]}.`;
        const error = wrongArgument(what, expected);
        if (LISTS.has(name)) throw error;
        return Promise.reject(error);
      },
    });
  }
}
