/** Leads chunks through a coding of `node:zlib`, in either direction, no faster than it goes. */
import { pipeline, type Transform } from 'node:stream';
import type { Chunks } from '../response/reply.ts';

/** The chunks that come out of `coding`, which is used up. */
export async function* pipeThroughZlib(
  chunks: Chunks, coding: Transform,
): AsyncGenerator<Uint8Array, void, void> {
  pipeline(chunks, coding, () => {}); // an error of the chunks comes out of `coding` too
  // A zlib stream gives buffers.
  yield* coding as AsyncIterable<Uint8Array>;
}
