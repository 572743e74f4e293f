/**
 * The ids, cursors, ETags, links and forms of earlier responses, for later requests. With these the
 * fuzzer follows all links and pages, including those of new pages.
 */
import type { Random } from '../domain/random.ts';
import type { Answer } from '../support/http.ts';
import { findForms, type PageForm } from '../features/portal/page-client.ts';

const PER_KIND_LIMIT = 60;

const KINDS: Readonly<Record<string, RegExp>> = {
  id: /\bprd_[0-9a-v]+/g,
  webhook_id: /\bwhk_[0-9a-v]+/g,
  key_id: /\bkey_[0-9a-v]+/g,
  sku: /"sku":"([^"\\]+)"/g,
  cursor: /"next_cursor":"([^"]+)"/g,
  link: /\b(?:href|src|action)="(\/portal[^"#]*)"/g,
};

export class Pool {
  readonly #kinds = new Map<string, string[]>();
  readonly #forms = new Map<string, PageForm[]>();
  readonly #next = new Map<string, number>();

  add(kind: string, value: string): void {
    put(this.#kinds, this.#next, kind, value);
  }

  /** All known values of a kind. */
  list(kind: string): readonly string[] {
    return this.#kinds.get(kind) ?? [];
  }

  pick(random: Random, kind: string, fallback: string): string {
    const known = this.list(kind);
    return known.length === 0 ? fallback : random.pick(known);
  }

  /** The forms that were shown for paths of this pattern. */
  formsFor(pattern: RegExp): readonly PageForm[] {
    return [...this.#forms].filter(([path]) => pattern.test(path)).flatMap(([, forms]) => forms);
  }

  /** Collects the values in a response. */
  harvest({ headers, text }: Answer): void {
    const seen = new Set<string>();
    for (const [kind, pattern] of Object.entries(KINDS)) {
      for (const [whole, part = whole] of text.slice(0, 200_000).matchAll(pattern)) {
        if (seen.size > 200) break;
        if (seen.has(part)) continue;
        seen.add(part);
        this.add(kind, part.replaceAll('&amp;', '&'));
      }
    }
    if (headers.etag !== undefined) this.add('tag', headers.etag);
    if (headers.location !== undefined) this.add('link', headers.location);
    if (!String(headers['content-type']).startsWith('text/html')) return;
    for (const form of findForms(text)) put(this.#forms, this.#next, form.action, form, 4);
    if (this.#forms.size <= PER_KIND_LIMIT * 4) return;
    const [oldest = ''] = this.#forms.keys();
    this.#forms.delete(oldest);
  }
}

/** The newest values replace the oldest. */
function put<Value>(
  lists: Map<string, Value[]>, places: Map<string, number>, name: string, value: Value,
  limit = PER_KIND_LIMIT,
): void {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  if (list.includes(value)) return;
  const place = places.get(name) ?? 0;
  list[place] = value;
  places.set(name, (place + 1) % limit);
}
