/** Reads continuously: reads must succeed, whatever happens to writes. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { send } from '../support/http.ts';

const PATHS = ['/api/v1/products?limit=20', '/api/v1/products/sku/C1-1', '/api/v1/changes?after=0'];

export interface Reading {
  /** Asserts that all reads succeeded, and reports their latency; returns its median in ms. */
  end(t: TestContext): Promise<number>;
}

export function startReading(port: number, key: string): Reading {
  let isEnded = false;
  const tookMs: number[] = [];
  const read = async (path: string): Promise<void> => {
    while (!isEnded) {
      const begun = performance.now();
      const answer = await send(port, { path, headers: { 'x-api-key': key } });
      assert.ok([200, 404].includes(answer.status), `${path}: ${answer.status} ${answer.text}`);
      tookMs.push(performance.now() - begun);
    }
  };
  const all = Promise.all(PATHS.map(read));
  all.catch(() => {}); // reported at the end
  return {
    async end(t) {
      isEnded = true;
      await all;
      assert.ok(tookMs.length > 0);
      const sorted = tookMs.toSorted((one, other) => one - other);
      const [median = NaN, p99 = NaN, longest = NaN] = [0.5, 0.99, 1].map((part) =>
        sorted[Math.ceil(sorted.length * part) - 1]);
      t.diagnostic(`${sorted.length} concurrent reads: p50 ${median.toFixed(1)} ms, `
        + `p99 ${p99.toFixed(1)} ms, the longest ${longest.toFixed(1)} ms`);
      return median;
    },
  };
}
