/**
 * Content negotiation (RFC 9110 section 12): the available media type or coding that a client
 * prefers. Ignores media range parameters other than the weight, except where a handler asks for
 * one.
 */
import { AppError } from '../../domain/error.ts';

/** The content codings of responses. */
export type ContentCoding = 'br' | 'gzip';

const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * The media type of the response: the first of `produces` among those that `Accept` prefers; empty
 * if nothing is produced.
 * @throws AppError `not_acceptable`
 */
export function negotiate(accept: string | undefined, produces: readonly string[]): string {
  const [first = ''] = produces;
  if (accept === undefined || accept === '*/*' || accept === first || first === '') return first;
  const weights = parseWeights(accept);
  if (weights.size === 0) return first;
  const best = prefer(produces, (type) => {
    const [family = ''] = type.split('/');
    return weights.get(type) ?? weights.get(`${family}/*`) ?? weights.get('*/*') ?? 0;
  });
  if (best !== undefined) return best;
  const detail = `Available types: ${produces.join(', ')}. Send one of them in Accept.`;
  throw new AppError('not_acceptable', detail);
}

/** Whether `Accept` has a range of this media type with this parameter, such as `end=record`. */
export function hasParameter(accept: string | undefined, type: string, parameter: string): boolean {
  return parseElements((accept ?? '').replaceAll('"', ''))
    .some(([range, ...parameters]) => range === type && parameters.includes(parameter));
}

/**
 * The first of `codings` among those that `Accept-Encoding` prefers; undefined if it prefers the
 * plain form, which is also the fallback when nothing is acceptable.
 */
export function negotiateCoding(
  header: string | undefined, codings: readonly ContentCoding[],
): ContentCoding | undefined {
  if (header === undefined) return undefined;
  const weights = parseWeights(header);
  const plain = weights.get('identity') ?? 0;
  return prefer(codings, (coding) => {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    return weight < plain ? 0 : weight;
  });
}

/** The first form with the greatest weight above 0. */
function prefer<Form>(forms: readonly Form[], weigh: (form: Form) => number): Form | undefined {
  let best: Form | undefined;
  let bestWeight = 0;
  for (const form of forms) {
    const weight = weigh(form);
    if (weight > bestWeight) [best, bestWeight] = [form, weight];
  }
  return best;
}

/** The weights of a list, 0 (never) to 1 (default); elements with an invalid one are ignored. */
function parseWeights(list: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const [range = '', ...parameters] of parseElements(list)) {
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    if (range !== '' && WEIGHT.test(weight)) weights.set(range, Number(weight));
  }
  return weights;
}

/** The elements of a list in lower case, each with its parameters. */
function parseElements(list: string): readonly (readonly string[])[] {
  return list.toLowerCase().split(',')
    .map((element) => element.split(';').map((part) => part.trim()));
}
