/** Runs parsers on corrupted samples, and minimizes failing inputs. */
import { makeRandom } from '../domain/random.ts';
import { AppError } from '../../src/domain/error.ts';
import { type Parser, PARSERS } from './parsers.ts';
import { mutateBytes, mutateText, TEXTS } from './values.ts';

/** Describes a parser failure, with its seed and minimized input. */
export async function findParserFailure(
  seed: number, parsers: Readonly<Record<string, Parser>> = PARSERS,
): Promise<string | undefined> {
  const random = makeRandom(seed);
  const [name, parser] = random.pick(Object.entries(parsers));
  const sample = random.below(6) === 0 ? random.pick(TEXTS) : random.pick(parser.samples);
  const text = random.below(2) === 0 ? mutateText(random, sample) : sample;
  const bytes = mutateBytes(random, Buffer.from(text));
  const what = await tryParser(parser, bytes);
  if (what === undefined) return undefined;
  const least = await shorten(bytes, async (part) => await tryParser(parser, part) !== undefined);
  return `${name} with FUZZ_SEED=${seed}: ${what}\n  ${JSON.stringify(least.toString('latin1'))}`;
}

async function tryParser(parser: Parser, bytes: Buffer): Promise<string | undefined> {
  try {
    await parser.check(bytes.toString(), bytes);
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') return String(error);
  }
  // A polluted `Object.prototype` shows in every object.
  return 'polluted' in {} ? 'changed the prototype of all objects' : undefined;
}

/** Removes parts while the input still fails. */
async function shorten(
  bytes: Buffer, fails: (part: Buffer) => Promise<boolean>,
): Promise<Buffer> {
  let least = bytes;
  for (let size = Math.ceil(bytes.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < least.length;) {
      const part = Buffer.concat([least.subarray(0, at), least.subarray(at + size)]);
      if (await fails(part)) least = part;
      else at += size;
    }
  }
  return least;
}
