/**
 * Content negotiation (RFC 9110 section 12): which of the forms that there are a client prefers.
 * Parameters of media ranges other than the weight are passed over, for our types have none.
 */
import { AppError } from '../../domain/error.ts';

/** The content codings that answers are sent in. */
export type ContentCoding = 'br' | 'gzip';

const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** What a client says of a range, from 0 (never this) to 1. */
type Weights = ReadonlyMap<string, number>;

/**
 * The media type to answer with: the first of `produces` among those that `Accept` prefers. Where
 * nothing is produced, that is nothing.
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
  const detail = `This can be answered as ${produces.join(', ')}. Name one of them in Accept.`;
  throw new AppError('not_acceptable', detail);
}

/**
 * The first of `codings` among those that `Accept-Encoding` prefers; undefined where it prefers
 * none of them to the plain form, which everybody gets who would otherwise get nothing.
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

/** The first of those whose weight is the greatest, and above 0. */
function prefer<Form>(
  forms: readonly Form[], weigh: (form: Form) => number,
): Form | undefined {
  let best: Form | undefined;
  let bestWeight = 0;
  for (const form of forms) {
    const weight = weigh(form);
    if (weight > bestWeight) [best, bestWeight] = [form, weight];
  }
  return best;
}

/** The weights of a list; what has none weighs 1, and what has one that is none is left out. */
function parseWeights(list: string): Weights {
  const weights = new Map<string, number>();
  for (const element of list.toLowerCase().split(',')) {
    const [range = '', ...parameters] = element.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    if (range !== '' && WEIGHT.test(weight)) weights.set(range, Number(weight));
  }
  return weights;
}
