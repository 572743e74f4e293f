/**
 * Pairs of texts in a form: rows with a name and a value, without scripts. A form that has no rows
 * may have the pairs as JSON instead, under the field's own name.
 */
import { invalid, type ParseResult } from '../../../domain/validation.ts';
import { html, type Html } from '../html/html.ts';
import type { Form } from './form.ts';

/** Empty rows for new pairs. */
const SPARE_ROWS = 2;

type Pairs = readonly (readonly [name: string, value: string])[];

/** The names of the inputs. */
export function pairInputs(name: string): readonly [name: string, value: string] {
  return [`${name}_name`, `${name}_value`];
}

export function renderPairs(
  { name, label, rowsLimit }: {
    readonly name: string; readonly label: string; readonly rowsLimit: number;
  }, form: Form,
): Html {
  const pairs = readRows(form, name);
  const count = Math.max(pairs.length, Math.min(pairs.length + SPARE_ROWS, rowsLimit));
  const [nameInput, valueInput] = pairInputs(name);
  return html`${Array.from({ length: count }, (_, index) => {
    const [key = '', value = ''] = pairs[index] ?? [];
    return html`<div class="pair">
      <input name="${nameInput}" value="${key}" aria-label="${label}: name ${index + 1}"
        autocomplete="off">
      <input name="${valueInput}" value="${value}" aria-label="${label}: value ${index + 1}"
        autocomplete="off"></div>`;
  })}`;
}

export function hasPairs(form: Form, name: string): boolean {
  return form.has(name) || form.has(pairInputs(name)[0]);
}

/**
 * The pairs as an object; null if there are none. White space around the values of `base`, the
 * JSON that the form was opened with, is kept unless the user enters another value.
 */
export function parsePairs(
  form: Form, name: string, base: unknown,
): ParseResult<Readonly<Record<string, string>> | null> {
  const before = new Map(typeof base === 'string' ? readJson(base) : []);
  const pairs = readRows(form, name).map(([key, value]) => {
    const was = before.get(key);
    return [key, was?.trim() === value ? was : value] as const;
  });
  const names = pairs.map(([key]) => key);
  const unnamed = names.indexOf('');
  if (unnamed >= 0) {
    return invalid('required', `The value "${pairs[unnamed]?.[1] ?? ''}" has no name.`);
  }
  const repeated = names.find((key, index) => names.indexOf(key) < index);
  if (repeated !== undefined) return invalid('duplicate', `The name "${repeated}" is repeated.`);
  return { value: pairs.length === 0 ? null : Object.fromEntries(pairs) };
}

/** Rows that are not empty. */
function readRows(form: Form, name: string): Pairs {
  const [nameInput, valueInput] = pairInputs(name);
  if (!form.has(nameInput)) return readJson(form.get(name));
  const values = form.getAll(valueInput);
  return form.getAll(nameInput)
    .map((key, index) => [key.trim(), (values[index] ?? '').trim()] as const)
    .filter(([key, value]) => key !== '' || value !== '');
}

function readJson(text: string): Pairs {
  try {
    const object: unknown = JSON.parse(text || '{}');
    return Object.entries({ ...object as object }).map(([key, value]) => [key, String(value)]);
  } catch {
    return []; // no page of ours has such a text
  }
}
