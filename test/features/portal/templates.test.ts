/**
 * Checks the source of all templates of the portal: values appear only in places where escaping
 * suffices (see html.ts), and no template has inline code.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const FOLDER = join(import.meta.dirname, '../../../src/features/portal');

interface Template {
  readonly pieces: readonly string[];
  /** The source of the values between the pieces. */
  readonly values: readonly string[];
}

test('places values between tags, in quoted attributes, or as whole attributes', () => {
  const templates = loadTemplates();
  assert.ok(templates.length > 50);
  const errors = templates.flatMap(({ path, template }) =>
    findViolations(template).map((error) => `${path}: ${error}`));
  assert.deepEqual(errors, []);
});

test('has no inline style, script or event handler', () => {
  for (const { path, template } of loadTemplates()) {
    const markup = template.pieces.join('…');
    assert.doesNotMatch(markup, /<[^>]*\s(?:style|on\w+|srcdoc)\s*=/i, path);
    assert.doesNotMatch(markup, /^\s+(?:style|on\w+|srcdoc)\s*=/i, path);
    assert.doesNotMatch(markup, /<style|<script(?![^>]*><\/script>)|javascript:/i, path);
  }
});

test('creates markup in no other way', () => {
  for (const path of globSync('**/*.ts', { cwd: FOLDER })) {
    const source = readFileSync(join(FOLDER, path), 'utf8');
    if (path !== 'html/html.ts') assert.doesNotMatch(source, /new Html\(/, path);
  }
});

test('detects violations', () => {
  const unsafe: readonly string[] = [
    'html`<p title=${x}>`', 'html`<${x}>`', "html`<p title='${x}'>`", 'html`<p ${x}>`',
    'html`<script>${x}</script>`', 'html`<style>${x}</style>`', 'html`<!-- ${x} -->`',
    'html`<p data-${x}="1">`', 'html`<script src="${y}">${x}</script>`', 'html` title=${x}`',
    'html`<p>${html`<b ${x}>`}</p>`',
  ];
  for (const source of unsafe) {
    assert.equal(parseTemplates(source).flatMap(findViolations).length, 1, source);
  }
  const fine = 'html`<p class="a ${x}"${y && html` title="${x}"`}>${x > 1 ? `${x}` : "}"}</p>`';
  assert.deepEqual(parseTemplates(fine).flatMap(findViolations), []);
  assert.equal(parseTemplates(fine).length, 2);
});

function loadTemplates(): { readonly path: string; readonly template: Template }[] {
  return globSync('**/*.ts', { cwd: FOLDER }).sort().flatMap((path) => {
    const source = readFileSync(join(FOLDER, path), 'utf8');
    return parseTemplates(source).map((template) => ({ path, template }));
  });
}

/** All templates with the tag `html`, including nested ones. */
function parseTemplates(source: string): Template[] {
  const found: Template[] = [];
  const begin = /(?<!`)\bhtml`/g;
  for (let match = begin.exec(source); match; match = begin.exec(source)) {
    found.push(readTemplate(source, begin.lastIndex).template);
  }
  return found;
}

function readTemplate(source: string, from: number): { template: Template; end: number } {
  const pieces: string[] = [];
  const values: string[] = [];
  let at = from;
  let start = from;
  for (;;) {
    assert.ok(at < source.length, 'Unterminated template.');
    if (source[at] === '\\') {
      at += 2;
    } else if (source[at] === '`') {
      pieces.push(source.slice(start, at));
      return { template: { pieces, values }, end: at + 1 };
    } else if (source.startsWith('${', at)) {
      pieces.push(source.slice(start, at));
      const end = skipCode(source, at + 2);
      values.push(source.slice(at + 2, end));
      at = end + 1;
      start = at;
    } else {
      at += 1;
    }
  }
}

/** The index of the brace that ends the code, after skipping strings and nested templates. */
function skipCode(source: string, from: number): number {
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const character = source[at] ?? '';
    if (character === '`') {
      at = readTemplate(source, at + 1).end - 1;
    } else if (character === "'" || character === '"') {
      at += 1;
      while (source[at] !== character) at += source[at] === '\\' ? 2 : 1;
    } else if (character === '{') {
      depth += 1;
    } else if (character === '}') {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return assert.fail('Unterminated code in a template.');
}

type State = 'text' | 'name' | 'tag' | 'value' | 'bare' | 'raw';

interface Place {
  readonly state: State;
  /** The name of the last opened tag. */
  readonly tag: string;
}

/** Finds values in unsafe places, by a simplified tokenizer (WHATWG HTML, section 13.2.5). */
function findViolations({ pieces, values }: Template): string[] {
  const errors: string[] = [];
  // A template of attributes only is inserted into a tag.
  const isAttributes = /^\s+[\w-]+(?:=|$)/.test(pieces[0] ?? '');
  let place: Place = { state: isAttributes ? 'tag' : 'text', tag: '' };
  pieces.forEach((piece, index) => {
    place = readMarkup(piece, place);
    const value = values[index];
    if (value === undefined) return;
    const { state, tag } = place;
    const isText = state === 'text' || state === 'value';
    // Whole attributes, from a template or from the function that describes a field.
    const isAfter = state === 'name' ? tag !== '' : state === 'tag' && !/[\w-]$/.test(piece);
    const isWhole = isAfter && (/\bhtml`\s/.test(value) || value === 'described');
    if (!isText && !isWhole) errors.push(`\${${value}} is in a ${state}`);
  });
  return errors;
}

function readMarkup(piece: string, from: Place): Place {
  let { state, tag } = from;
  for (const [at, character] of [...piece].entries()) {
    const before = piece.slice(0, at + 1);
    if (state === 'text' && character === '<') [state, tag] = ['name', ''];
    else if (state === 'name' && /[^\s>]/.test(character)) {
      tag += character;
      if (tag === '!--') state = 'raw';
    } else if ((state === 'name' || state === 'tag') && character === '>') {
      state = /^(?:script|style)$/i.test(tag) ? 'raw' : 'text';
    } else if (state === 'name') state = 'tag';
    else if (state === 'tag' && character === '"') state = 'value';
    else if (state === 'value' && character === '"') state = 'tag';
    else if (state === 'tag' && (character === "'" || /=(?=[^"]$)/.test(before))) state = 'bare';
    else if (state === 'tag' && character === '=' && at === piece.length - 1) state = 'bare';
    else if (state === 'raw' && /<\/(?:script|style)>$|-->$/i.test(before)) state = 'text';
  }
  return { state, tag };
}
